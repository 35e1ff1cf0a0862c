"""A small part of the GPU tests, as a program for compute-sanitizer: `property`, `hostile`,
`missing` or `changed_masks`.

Exit code 0 if everything agreed with the CPU. A program and not tests, because each kernel runs
tens of times slower here, and torch would bring kernels of its own.
"""

import sys

import mutants
import numpy as np
from fill_data import field, fills_of, lossy, with_fill
from frame_bytes import payloads_of
from gpu_calls import encode_on_host
from gpu_data import coders, make
from test_gpu_fills_damaged import changed_masks
from test_gpu_frames import check_array
from test_gpu_hostile import check_all

from thinwire.library import library

COUNTS = (1, 33, 1025, 4097, 20001)


def run_properties(small: bool) -> None:
    for coder in coders(every_spec=False):
        codec = coder.codec()
        for count in COUNTS[1:4] if small else COUNTS:
            for kind in ("smooth",) if small else ("smooth", "random", "special"):
                values = make(kind, coder.dtype, (count,))
                check_array(codec, coder.dtype, values, (0, 4, 0) if count % 2 else (1, 2, 8))
        if coder.max_rank > 1 and coder.spec != "raw":
            for shape in [(13, 17), (9, 10, 11)][: coder.max_rank - 1]:
                check_array(codec, coder.dtype, make("smooth", coder.dtype, shape))


def run_missing(small: bool) -> None:
    for coder in lossy(every_spec=False):
        for fill, bits in fills_of(coder.dtype)[: 1 if small else 4]:
            for shape in [(9001,), (9, 10, 11)][: 1 if coder.max_rank == 1 else 2]:
                values, _ = field(coder.dtype, shape, 30, bits)
                check_array(with_fill(coder, fill), coder.dtype, values, (0, 4, 0))


def run_changed_masks(small: bool) -> None:
    for coder in lossy(every_spec=False):
        fill, bits = fills_of(coder.dtype)[0]
        values, _ = field(coder.dtype, (5001,), 30, bits)
        flag = library().TW_MESSAGE_NO_CHECKSUM
        codec = with_fill(coder, fill)
        frame = encode_on_host(codec, coder.dtype, values.shape, values, flag)[1].copy()
        masks = list(changed_masks(frame, seed=8))
        check_all(masks[:: 40 if small else 10], values.nbytes)


def run_hostile(small: bool) -> None:
    count = 9001
    for coder in coders(every_spec=False):
        values = make("smooth", coder.dtype, (count,))
        flag = library().TW_MESSAGE_NO_CHECKSUM
        frame = encode_on_host(coder.codec(), coder.dtype, (count,), values, flag)[1].copy()
        chunks = len(payloads_of(frame))
        frames = [*mutants.random_bodies(frame, chunks, 4 if small else 12, seed=1)]
        frames += [*mutants.lying_tables(frame, chunks)][:: 4 if small else 1]
        frames += [*mutants.flipped_payloads(frame, 4 if small else 12, seed=2)]
        frames += [frame[:length].copy() for length in np.linspace(1, frame.size - 1, 6, dtype=int)]
        check_all(frames, values.nbytes)


if __name__ == "__main__":
    part, size = sys.argv[1:]
    parts = {
        "property": run_properties,
        "hostile": run_hostile,
        "missing": run_missing,
        "changed_masks": run_changed_masks,
    }
    parts[part](size == "small")
