#!/usr/bin/env python3
"""Write the golden vectors of the ans codec, from a plain reading of spec/codec-ans.md.

    ans.py            write tests/vectors/ans.txt
    ans.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: integers have no size, and a byte is coded at a time.
"""

import sys

import ans_pieces
import ans_whole
import numpy as np
import output
from output import Vectors
from period import word_of

# Bits of a value, and of its mantissa.
BITS = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8}
MANTISSAS = {"f32": 23, "f64": 52, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2}

# A prime number of values, so that no two steps are alike and swapped ones show.
PERIOD = 127


def draws(count: int) -> list[int]:
    state, found = 88172645463325252, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append(state)
    return found


def smooth(bits: int, at: int) -> int:
    """A polynomial: every libm gives the same bits. Of 8 bits the words follow it."""
    x = at / 40 - 1
    if bits == 8:
        return 0x30 + round(8 * (x * x * x - 0.5 * x))
    return word_of(x * x * x - 0.5 * x, bits)


def specials(dtype: str) -> list[int]:
    """Zeros, subnormals, the largest, infinities and NaNs, of both signs, among ones."""
    bits, mantissa = BITS[dtype], MANTISSAS[dtype]
    sign = 1 << (bits - 1)
    infinity = (sign - 1) >> mantissa << mantissa
    one = ((1 << (bits - 2 - mantissa)) - 1) << mantissa
    rare = [0, 1, (1 << mantissa) - 1, 1 << mantissa]
    rare += [infinity - 1, infinity, infinity + 1, sign - 1]
    rare += [word | sign for word in rare]
    return [word for pair in zip(rare, [one] * len(rare), strict=True) for word in pair]


def make_period(name: str, dtype: str) -> list[int]:
    bits, some = BITS[dtype], draws(PERIOD)
    if name == "zeros":
        return [0]
    if name == "constant":
        return [0x40490FDB40490FDB >> (64 - bits)]
    if name == "special":
        return specials(dtype)
    if name == "smooth":
        return [smooth(bits, at) for at in range(PERIOD)]
    if name == "few":
        values = [smooth(bits, 9 * at) for at in range(5)]
        return [values[max(4 - (draw >> 40 & 0x7FFF).bit_length() // 3, 0)] for draw in some]
    if name == "sparse":  # few bytes where the words are not zero; the highest is never 0
        return [(draw >> (64 - bits) | 1 << (bits - 2)) * (draw >> 20 & 7 == 0) for draw in some]
    if name == "noise":  # of one exponent and both signs
        kept = 1 << (bits - 1) | (1 << MANTISSAS[dtype]) - 1
        return [draw >> (64 - bits) & kept | 0x3C << (bits - 8) for draw in some]
    if name == "hidden":  # constant, but for a byte in the groups that are sampled
        number, groups = 0x40490FDB40490000, 20
        values = [number] * (groups * GROUP)
        for first, group in (0, 1), (128, 11):
            values[group * GROUP : (group + 1) * GROUP] = [
                number | byte << 7 for byte in range(first, first + GROUP)
            ]
        return values
    raise ValueError(name)


# ---- The file ----

COUNTS, LAGS = (1, 2, 31, 33, 255), (0, 1, 3, 32)
GROUP = ans_pieces.GROUP
IN_PIECES = 256  # the bit of a parameter of version 1
# Larger ones of each kind and their tuples, 0 for a whole chunk.
LARGE = {
    "zeros": [(1000, 0), (1000, 32), (0, 0), (0, 1)],
    "constant": [(1000, 3), (0, 0), (0, 1)],
    "special": [(1000, 0)],
    "smooth": [(1000, 1)],
    "few": [(1000, 3), (0, 0)],
    "sparse": [(1000, 0)],
    "noise": [(1000, 0), (1024, 0)],
}
# Fewer of fp64, whose payloads are long.
LARGE_F64 = LARGE | {"special": [], "smooth": [], "few": [(0, 0)], "noise": []}


def cases_of(name: str, bits: int) -> list[tuple[int, int]]:
    """Numbers of values, and tuples."""
    whole = 2048 if bits == 64 else 4096 if bits == 32 else 8192
    small = [(count, lag) for count in COUNTS for lag in LAGS]
    if bits == 64:
        small = [(count, lag) for count, lag in small if count < 255 or lag == 3]
    large = (LARGE_F64 if bits == 64 else LARGE)[name]
    return small + [(count or whole, lag) for count, lag in large]


def make_file() -> Vectors:
    """Payloads that would not be smaller than the values are left out."""
    vectors = Vectors()
    for dtype, bits in BITS.items():
        for name in LARGE:
            period = np.array(make_period(name, dtype), f"<u{bits // 8}")
            vectors.period(name, dtype, period.tobytes())
            for count, lag in cases_of(name, bits):
                values = [int(word) for word in np.resize(period, count)]
                for parameter, write in ((lag, ans_whole), (IN_PIECES + lag, ans_pieces)):
                    stream = write.payload(values, bits, lag)
                    if stream is not None:
                        spec = f"ans:tuple={lag}"
                        vectors.case(spec, parameter, dtype, (count,), name, [stream])
    # A whole chunk of version 1, in which the sample hides that a plane could be coded.
    period = np.array(make_period("hidden", "f64"), "<u8")
    vectors.period("hidden", "f64", period.tobytes())
    values = [int(word) for word in np.resize(period, 4096)]
    stream = ans_pieces.payload(values, 64, 0)
    vectors.case("ans:tuple=0", IN_PIECES, "f64", (4096,), "hidden", [stream])
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("ans", make_file(), "spec/codec-ans.md"))
