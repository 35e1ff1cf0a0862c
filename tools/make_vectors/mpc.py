#!/usr/bin/env python3
"""Write the golden vectors of the mpc codec, from a plain reading of spec/codec-mpc.md.

    mpc.py            write tests/vectors/mpc.txt
    mpc.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: every bit is moved one at a time, as the page says.
"""

import sys

import numpy as np
import output
from output import Vectors
from period import Stretches, make_period

STRETCHES = Stretches(smooth=100, constant=150, sparse=220, half=50, seed=12345)
UNIT = 1024
CASES = [(length, stride) for length in (1, 31, 33, 65) for stride in (1, 3, 32)] + [(1025, 3)]


def unit_words(values: list[int], stride: int, bits: int) -> list[int]:
    """The words of one unit: differences, transposed by groups, differences again."""
    modulus = 1 << bits
    differences = [
        (value - (values[i - stride] if i >= stride else 0)) % modulus
        for i, value in enumerate(values)
    ]
    differences += [0] * (-len(differences) % bits)
    words = []
    for group in range(0, len(differences), bits):
        for bit in range(bits):
            words.append(sum((differences[group + i] >> bit & 1) << i for i in range(bits)))
    return [(word - (words[i - 1] if i else 0)) % modulus for i, word in enumerate(words)]


def payload(values: list[int], stride: int, bits: int) -> bytes:
    bitmaps, kept = b"", b""
    for first in range(0, len(values), UNIT):
        words = unit_words(values[first : first + UNIT], stride, bits)
        present = sum((word != 0) << i for i, word in enumerate(words))
        bitmaps += present.to_bytes(len(words) // 8, "little")
        kept += b"".join(word.to_bytes(bits // 8, "little") for word in words if word)
    return bitmaps + kept


def make_file() -> Vectors:
    vectors = Vectors()
    for bits in (32, 64):
        dtype, period = f"f{bits}", make_period(bits, STRETCHES)
        vectors.period("mixed", dtype, period.tobytes())
        for length, stride in CASES:
            values = [int(word) for word in np.resize(period, length)]
            payloads = [payload(values, stride, bits)]
            vectors.case(f"mpc:stride={stride}", stride, dtype, (length,), "mixed", payloads)
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("mpc", make_file(), "spec/codec-mpc.md"))
