"""Messages between GPUs by turns: staged by hand, and through the shim raw and under each codec;
and how long the codec takes on the GPU, on the very values that messages hold."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.bench.expected import Expected
from thinwire.bench.p2p import Runs, Session, expect_all, failing, run_once
from thinwire.bench.programs import Place, mpi_is_gpu_aware
from thinwire.codec import Codec
from thinwire.gpu import GpuMemory, copy_bytes
from thinwire.library import ThinwireError, check, ffi, ffi_new, library

HOST = "host native"
STAGED = "staged native"
DIRECT = "GPU native"  # device pointers to an MPI that takes them itself
RAW = "shim raw"

# Calls of a codec on the GPU, of which the fastest counts.
WARMUPS = 3
RUNS = 15

_GPU = 0  # of those this process sees


@dataclass(frozen=True)
class Case:
    """One way to send. `memory` is the program's; `spec` is None without the shim, and `codec` is
    None if messages are to go raw."""

    name: str
    memory: str
    spec: str | None = None
    codec: Codec | None = None
    same_node: bool = False


@dataclass(frozen=True)
class GpuExpected:
    """What messages of a (spec, size) should come to, and the codec's seconds on the GPU, None
    if `why_no_seconds` says why they are not known."""

    message: Expected
    encode_seconds: float | None
    decode_seconds: float | None
    why_no_seconds: str = ""


def all_cases(place: Place, codecs: Sequence[Codec]) -> list[Case]:
    """The rows of a link. Inside one node the shim leaves messages raw until it is told to, which
    is a case of its own there."""
    found = [
        Case(HOST, "host"),
        Case(STAGED, "staged"),
        *([Case(DIRECT, "device")] if mpi_is_gpu_aware() else []),
        Case(RAW, "device", spec="off"),
    ]
    if place.same_node:
        spec = codecs[0].spec
        found.append(Case(f"shim, {spec} not for this node", "device", spec=spec))
    found += [Case(c.spec, "device", c.spec, c, same_node=place.same_node) for c in codecs]
    return found


def expect_on_gpu(session: Session) -> dict[tuple[str, int], GpuExpected]:
    """What each (spec, message size) should come to; values, ratio and error are the CPU's, which
    the GPU has to meet bit for bit."""
    reason = why_no_gpu()
    found = {}
    sizes = {codec.spec: codec for codec in session.codecs}
    for (spec, size), message in expect_all(session).items():
        hoped = GpuExpected(message, None, None, reason)
        if not message.compressed:
            hoped = GpuExpected(message, 0, 0)
        elif not reason:
            cost = measure_on_gpu(sizes[spec], session.values[: size // 4])
            hoped = (
                replace(hoped, why_no_seconds="the GPU encodes nothing")
                if cost is None
                else GpuExpected(message, cost.encode_seconds, cost.decode_seconds)
            )
        found[spec, size] = hoped
    return found


def run_gpu_link(place: Place, session: Session) -> dict[str, Runs]:
    """Runs every case over one link by its name, a round of all after another.

    A case that fails is left out of the other rounds. BenchError if nothing can run.
    """
    cases = all_cases(place, session.codecs)
    runs = {case.name: Runs() for case in cases}
    with tempfile.TemporaryDirectory(prefix="thinwire-bench-") as folder:
        data = Path(folder) / "data.f32"
        session.values.tofile(data)
        for number in range(1, session.rounds + 1):
            for case in cases:
                words = f"{place.name}: {case.name}, round {number} of {session.rounds}"
                own = runs[case.name]
                with session.progress(words), failing(own, words):
                    if own.failure:
                        continue
                    run_once(
                        place,
                        session,
                        data,
                        own,
                        memory=case.memory,
                        spec=case.spec,
                        shim_options=["--same-node"] if case.same_node else [],
                    )
    return runs


@dataclass(frozen=True)
class GpuCost:
    """Seconds of one blocking encode and decode between two places in GPU memory, each the
    fastest of several: launches and the wait for the end included."""

    encode_seconds: float
    decode_seconds: float


def why_no_gpu() -> str:
    """Why codecs cannot run on a GPU in this process; empty if they can. Initialises CUDA."""
    count = ffi_new("uint32_t *")
    try:
        check(library().tw_device_count(count))
    except AttributeError:
        return "this library has no GPU side"
    except ThinwireError as error:
        return str(error)
    return "" if count[0] else "no GPU is visible"


def measure_on_gpu(codec: Codec, values: np.ndarray) -> GpuCost | None:
    """The cost of `values` (fp32) as one message on the first GPU; None if it is not encoded.

    Raises ThinwireError if the GPU fails, or decodes other values than the CPU.
    """
    lib = library()
    shape = ffi_new("tw_shape *")
    check(lib.tw_codec_shape(codec.handle, dtypes.CODES["f32"], values.size, shape))
    number = ffi.new("uint64_t *")
    check(lib.tw_message_bound(codec.handle, shape, number))
    room = number[0]
    source, frame = GpuMemory(values.nbytes, _GPU), GpuMemory(room, _GPU)
    target = GpuMemory(values.nbytes, _GPU)
    copy_bytes(source.pointer, values.ctypes.data, values.nbytes)
    at_source, at_frame, at_target = map(_address, (source, frame, target))
    none = ffi.NULL

    def encode() -> None:
        check(lib.tw_message_encode(codec.handle, shape, at_source, at_frame, room, none, number))

    def decode(to: Any) -> None:
        check(lib.tw_message_decode(at_frame, number[0], to, values.nbytes, none, none))

    encode_seconds = _fastest(encode)
    if number[0] >= values.nbytes:
        return None
    decode_seconds = _fastest(lambda: decode(at_target))
    on_cpu = np.empty(values.nbytes, np.uint8)
    decode(ffi.from_buffer(on_cpu, require_writable=True))
    if not np.array_equal(target.copy_to_host(values.nbytes), on_cpu):
        raise ThinwireError(lib.TW_INTERNAL, "the GPU decodes other values than the CPU")
    return GpuCost(encode_seconds, decode_seconds)


def _fastest(action: Callable[[], None]) -> float:
    seconds = []
    for _ in range(WARMUPS + RUNS):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds[WARMUPS:])


def _address(memory: GpuMemory) -> Any:
    return ffi.cast("void *", memory.pointer)
