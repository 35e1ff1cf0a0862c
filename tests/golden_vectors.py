"""The golden vectors of tests/vectors, and what a coder of whole frames must make of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import frame_bytes
import numpy as np

from thinwire import codecs, dtypes

FILES = sorted(Path(__file__).with_name("vectors").glob("*.txt"))


@dataclass(frozen=True)
class Case:
    """An array, the spec and parameter that code it, and what becomes of its chunks."""

    spec: str
    parameter: int
    dtype: str
    values: np.ndarray
    payloads: tuple[bytes, ...]
    decoded_hash: int | None  # where other values come back

    @property
    def name(self) -> str:
        return self.spec.partition(":")[0]

    @property
    def size(self) -> int:
        """Of all payloads."""
        return sum(map(len, self.payloads))

    @property
    def is_older(self) -> bool:
        """Of a version that is decoded alone: ans before its chunks had pieces."""
        return self.name == "ans" and self.parameter < 256

    def frame(self) -> np.ndarray:
        shape, payloads = self.values.shape, list(self.payloads)
        return frame_bytes.build(self.name, self.dtype, shape, self.parameter, payloads)


def read(file: Path) -> list[Case]:
    """Those of whole arrays whose payloads are smaller than the values."""
    periods: dict[tuple[str, str], np.ndarray] = {}
    cases, count, end = [], 0, 0
    for line in file.read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            name, dtype, values = fields
            periods[name, dtype] = np.frombuffer(bytes.fromhex(values), dtypes.NUMPY[dtype])
        elif kind == "case":
            count += 1
            spec, parameter, dtype, extents, period, place, payloads, decoded = fields
            if place != "array" or payloads == "raw":
                continue
            values = np.resize(periods[period, dtype], tuple(map(int, extents.split("x"))))
            streams = tuple(bytes.fromhex(each.strip("-")) for each in payloads.split(","))
            back = None if decoded == "same" else int(decoded, 16)
            cases.append(Case(spec, int(parameter, 16), dtype, values, streams, back))
        elif kind == "end":
            end = int(fields[0])
    assert cases and count == end, f"{file.name} is cut short"
    return cases


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def check_decoded(cases: list[Case], decode: Callable[[np.ndarray, Case], bytes | None]) -> None:
    """`decode` gives the values' bytes, None for a frame that is damaged: those are whose payloads
    are longer than the values, unless their codec has a fixed size."""
    fixed = {row.name for row in codecs() if row.fixed_size}
    for case in cases:
        words = f"{case.spec}, {case.dtype}, {case.values.size} values"
        out = decode(case.frame(), case)
        if case.name not in fixed and case.size > case.values.nbytes:
            assert out is None, words
        elif case.decoded_hash is None:
            assert out == case.values.tobytes(), words
        else:
            assert out is not None and fnv1a(out) == case.decoded_hash, words


def check_encoded(cases: list[Case], encode: Callable[[Case], np.ndarray]) -> None:
    """`encode` gives a frame, a raw one if the codec's would not be smaller than the array, or if a
    lossy codec finds fill values in it."""
    rows = {row.name: row for row in codecs()}
    coded = smaller = 0
    for case in (case for case in cases if not case.is_older):
        frame, is_smaller = encode(case), case.frame().size < case.values.nbytes
        is_coded = frame[frame_bytes.CODEC_AT] == rows[case.name].id
        words = f"{case.spec}, {case.dtype}, {case.values.size} values"
        assert is_coded == is_smaller or (not rows[case.name].lossless and not is_coded), words
        if is_coded:
            assert tuple(frame_bytes.payloads_of(frame)) == case.payloads, words
        coded, smaller = coded + is_coded, smaller + is_smaller
    assert 4 * coded >= smaller > 0, "hardly a vector was encoded"
