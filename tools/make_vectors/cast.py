#!/usr/bin/env python3
"""Write the golden vectors of the cast codec, from a plain reading of spec/codec-cast.md.

    cast.py            write tests/vectors/cast.txt
    cast.py --check    exit 1 if the committed file differs from what would be written

Nothing of Thinwire runs here. Numbers are fractions, and the nearest one is looked for among all of
the narrower type.
"""

import bisect
import math
import struct
import sys
from fractions import Fraction

import output
from output import Vectors

# Bits of the mantissa, the exponent's bias, all bits, as struct has it.
TYPES = {
    "f64": (52, 1023, 64, "Q"),
    "f32": (23, 127, 32, "I"),
    "bf16": (7, 127, 16, "H"),
    "f16": (10, 15, 16, "H"),
}
NAN = {"bf16": 0x7FC0, "f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}
NAMES = {"bf16": "bf16", "f16": "fp16", "f32": "fp32"}


def infinity(dtype: str) -> int:
    mantissa, _, bits, _ = TYPES[dtype]
    return 2 ** (bits - 1) - 2**mantissa


def log2(power: Fraction) -> int:
    """Of a power of two."""
    return power.numerator.bit_length() - power.denominator.bit_length()


def unit_at(code: int, dtype: str) -> tuple[int, Fraction]:
    """A magnitude as a whole number of units at its place."""
    mantissa, bias, _, _ = TYPES[dtype]
    exponent, rest = code >> mantissa, code & (2**mantissa - 1)
    whole = rest if exponent == 0 else rest + 2**mantissa
    return whole, Fraction(2) ** (max(exponent, 1) - bias - mantissa)


def value_of(code: int, dtype: str) -> Fraction:
    whole, unit = unit_at(code, dtype)
    return whole * unit


def nearest(value: Fraction, dtype: str) -> int:
    """The code of the nearest magnitude, the even one of two."""
    end = infinity(dtype)
    above = bisect.bisect_left(range(end), value, key=lambda code: value_of(code, dtype))
    if above == 0:
        return 0
    low, high = value_of(above - 1, dtype), value_of(above, dtype)
    if value - low == high - value:
        return above - 1 if above % 2 else above
    return above if high - value < value - low else above - 1


def drawn_code(magnitude: int, source: str, dtype: str, drawn: int) -> int:
    whole, unit = unit_at(magnitude, source)
    mantissa, bias, _, _ = TYPES[dtype]
    # The narrower type's unit at that place, its smallest at least.
    leading = 0 if whole == 0 else whole.bit_length() - 1
    exponent = leading + log2(unit)
    own = Fraction(2) ** max(exponent - mantissa, 1 - bias - mantissa)
    dropped = log2(own / unit)
    if dropped > 62:
        return 0
    if whole == 0:
        return 0
    floor = (whole + math.floor(drawn * Fraction(2) ** (dropped - 16))) // 2**dropped
    return bisect.bisect_left(
        range(infinity(dtype) + 1), floor * own, key=lambda code: value_of(code, dtype)
    )


def mix(h: int) -> int:
    h = ((h ^ h >> 16) * 0x85EBCA6B) % 2**32
    h = ((h ^ h >> 13) * 0xC2B2AE35) % 2**32
    return h ^ h >> 16


def draw(seed: int, chunk: int, i: int) -> int:
    key = mix(mix(seed ^ chunk >> 32) ^ chunk % 2**32)
    return mix((key + (i // 2 + 1) * 0x9E3779B9) % 2**32) >> (16 * (i % 2)) & 0xFFFF


def narrowed(bits: int, source: str, dtype: str, drawn: int | None) -> int:
    top = 2 ** (TYPES[source][2] - 1)
    sign = 2 ** (TYPES[dtype][2] - 1) if bits & top else 0
    magnitude = bits % top
    if magnitude > infinity(source):
        return NAN[dtype]
    if magnitude == infinity(source):
        return sign | infinity(dtype)
    if drawn is not None:
        return sign | drawn_code(magnitude, source, dtype, drawn)
    return sign | nearest(value_of(magnitude, source), dtype)


def widened(code: int, source: str, dtype: str) -> int:
    top = 2 ** (TYPES[dtype][2] - 1)
    sign = 2 ** (TYPES[source][2] - 1) if code & top else 0
    magnitude = code % top
    if magnitude > infinity(dtype):
        if source == "f64":
            return NAN["f64"]
        shift = TYPES[source][0] - TYPES[dtype][0]
        return sign | infinity(source) | (magnitude - infinity(dtype)) << shift
    if magnitude == infinity(dtype):
        return sign | infinity(source)
    return sign | nearest(value_of(magnitude, dtype), source)


def make_period(source: str, most: float, *, odd: bool) -> list[int]:
    """Smooth, tiny, large and rough stretches, as bit patterns; `odd`: NaN and infinities, too."""
    state, values = 99, []
    for i in range(131):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        x = i / 40 - 1
        value = x * x * x - 0.5 * x
        if 50 <= i < 70:
            value = ((state >> 20) / 2**44 - 0.5) * 2.0 ** (i - 60)
        elif 70 <= i < 100:
            value *= 2.0 ** (-8 * (i - 68)) * 4
        elif i == 100:
            value = -most
        elif i == 101:
            value = -0.0
        elif i == 102 and odd:
            value = math.inf
        values.append(value)
    form = "<d" if source == "f64" else "<f"
    words = [int.from_bytes(struct.pack(form, value), "little") for value in values]
    if odd:
        words[103] = infinity(source) | 2 ** (TYPES[source][2] - 1)
        words[104] = infinity(source) + 1
        words[105] = words[103] + 2 ** (TYPES[source][0] - 2)
    # Halfway between two bf16, below an even and an odd one; subnormal numbers of the type.
    shift = TYPES[source][0] - 7
    base = int.from_bytes(struct.pack(form, 1.5), "little")
    words[110] = base + 2 ** (shift - 1)
    words[111] = base + 3 * 2 ** (shift - 1)
    words[112], words[113] = 3 << (TYPES[source][0] - 4), 2 ** TYPES[source][0] - 1
    return words


CASES = (
    ("f32", "bf16"), ("f32", "f16"), ("f64", "bf16"), ("f64", "f16"), ("f64", "f32"),
)  # fmt: skip
MOST = {"bf16": 3.3e38, "f16": 65503.0, "f32": 3.4e38}


def make_file() -> Vectors:
    vectors = Vectors()
    for source, dtype in CASES:
        form, own = TYPES[source][3], TYPES[dtype][3]
        for odd in (False, True):
            words = make_period(source, MOST[dtype], odd=odd)
            name = f"{source}-{dtype}-{'odd' if odd else 'plain'}"
            vectors.period(name, source, struct.pack(f"<{len(words)}{form}", *words))
            for stochastic in (False, True):
                seed, chunk = (77, 2**33 + 1 if odd else 5) if stochastic else (0, 0)
                codes = [
                    narrowed(word, source, dtype, draw(seed, chunk, i) if stochastic else None)
                    for i, word in enumerate(words)
                ]
                payload = struct.pack(f"<{len(codes)}{own}", *codes)
                back = [widened(code, source, dtype) for code in codes]
                parameter = {"bf16": 0, "f16": 1, "f32": 2}[dtype] | stochastic << 2 | seed << 32
                more = f",round=stochastic,seed={seed}" if stochastic else ""
                vectors.case(
                    f"cast:to={NAMES[dtype]}{more}",
                    parameter,
                    source,
                    (len(words),),
                    name,
                    [payload + bytes(-len(payload) % 8)],
                    decoded=struct.pack(f"<{len(back)}{form}", *back),
                    chunk=chunk or None,
                )
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("cast", make_file(), "spec/codec-cast.md"))
