#!/usr/bin/env python3
"""Write the golden vectors of the mpc codec, from a plain reading of spec/codec-mpc.md.

    mpc.py            write tests/vectors/mpc-1d.txt
    mpc.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: every bit is moved one at a time, as the page says.
"""

import sys

import numpy as np
import output

# A prime number of values, so that no two units of an array are alike and swapped ones show.
PERIOD = 251
UNIT = 1024
CASES = [(length, stride) for length in (1, 31, 33, 65) for stride in (1, 3, 32)] + [(1025, 3)]

HEADER = f"""\
# mpc, 1-D: payloads of one chunk. Written by tools/make_vectors/mpc.py.
# period <f32|f64> <{PERIOD} little-endian values, hex>: value i is period[i mod {PERIOD}]
# case <f32|f64> <values> <stride> <payload, hex>
"""


def make_period(bits: int) -> np.ndarray:
    """Smooth, constant, sparse and arbitrary stretches, as bit patterns."""
    state, words = 12345, []
    for i in range(PERIOD):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        if i < 100:
            x = i / 50 - 1
            value = x * x * x - 0.5 * x  # a polynomial: every libm gives the same bits
            kind = np.float32 if bits == 32 else np.float64
            words.append(int(kind(value).view(f"u{bits // 8}")))
        elif i < 150:
            words.append(0x3F800000 << (bits - 32))
        elif i < 220:
            words.append(state >> (64 - bits) if i % 7 == 0 else 0)
        else:
            words.append(state >> (64 - bits))
    return np.array(words, dtype=f"<u{bits // 8}")


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


def make_file() -> str:
    lines = []
    for bits in (32, 64):
        period = make_period(bits)
        lines.append(f"period f{bits} {period.tobytes().hex()}\n")
        for length, stride in CASES:
            values = [int(word) for word in np.resize(period, length)]
            lines.append(f"case f{bits} {length} {stride} {payload(values, stride, bits).hex()}\n")
    return HEADER + "".join(lines)


if __name__ == "__main__":
    sys.exit(output.run("mpc-1d.txt", make_file(), "spec/codec-mpc.md"))
