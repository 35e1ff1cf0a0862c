"""What the programs that write golden vectors share: the lines of a file, and the command line.

tests/vectors/README.md says what the lines mean.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "vectors"


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


class Vectors:
    """The vectors of one codec."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._cases = 0

    def period(self, name: str, dtype: str, values: bytes) -> None:
        self._lines.append(f"period {name} {dtype} {values.hex()}\n")

    def case(
        self,
        spec: str,
        parameter: int,
        dtype: str,
        shape: Sequence[int],
        period: str,
        payloads: Sequence[bytes | None],
        *,
        decoded: bytes | None = None,
        chunk: int | None = None,
    ) -> None:
        """`payloads` of the chunks of an array, None for one that would not be smaller than its
        values; of one chunk alone if `chunk` says which of its array. `decoded` has the values that
        come back if they are others."""
        if not math.prod(shape) or not payloads or (chunk is not None and len(payloads) > 1):
            raise ValueError(f"{spec}: nothing to code, or several payloads of one chunk")
        extents = "x".join(map(str, shape))
        place = "array" if chunk is None else f"chunk-{chunk}"
        streams = ",".join("raw" if each is None else each.hex() or "-" for each in payloads)
        back = "same" if decoded is None else f"{fnv1a(decoded):016x}"
        words = ("case", spec, f"{parameter:x}", dtype, extents, period, place, streams, back)
        self._lines.append(" ".join(words) + "\n")
        self._cases += 1

    def text(self, codec: str) -> str:
        head = f"# Written by tools/make_vectors/{codec}.py; README.md says what the lines mean.\n"
        return head + "".join(self._lines) + f"end {self._cases}\n"


def run(codec: str, vectors: Vectors, source: str) -> int:
    """Write the codec's file of vectors, or with --check compare it; an exit status.

    `source` says what the vectors come from.
    """
    target = FOLDER / f"{codec}.txt"
    text = vectors.text(codec)
    parser = argparse.ArgumentParser(description=f"Write {target.name} from {source}.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if parser.parse_args().check:
        if not target.is_file() or target.read_text() != text:
            print(f"{target.name} differs from what {source} gives", file=sys.stderr)
            return 1
        return 0
    target.write_text(text)
    print(f"{target}: {len(text)} bytes")
    return 0
