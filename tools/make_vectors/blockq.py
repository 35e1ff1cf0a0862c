#!/usr/bin/env python3
"""Write the golden vectors of the blockq codec, from a plain reading of spec/codec-blockq.md.

    blockq.py            write tests/vectors/blockq.txt
    blockq.py --check    exit 1 if the committed file differs from what would be written

Needs numpy, for the roundings of fp32. Nothing of Thinwire runs here. Scales and E4M3 elements are
looked for among all numbers of their format.
"""

import sys
from fractions import Fraction

import numpy as np
import output
from output import Vectors

F = np.float32
PERIOD = 211
ELEMENTS = {0: 127, 1: 7, 2: 448}


def make_period(dtype: str) -> np.ndarray:
    """Smooth, sparse, tiny and huge stretches, as bit patterns."""
    state, values = 12345, []
    for i in range(PERIOD):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        x = i / 50 - 1
        value = x * x * x - 0.5 * x
        if 100 <= i < 140:
            value = (state >> 40) / 2**24 - 0.5 if i % 7 == 0 else 0
        elif 140 <= i < 150:
            value *= 1e-41 if dtype != "f16" else 1e-7
        elif i == 150:
            value = -3.3e38 if dtype != "f16" else 65504
        values.append(value)
    if dtype == "f16":
        return np.array(values, np.float16).view(np.uint16)
    words = np.array(values, F).view(np.uint32)
    return words if dtype == "f32" else (words >> 16).astype(np.uint16)


def to_f32(words: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "f16":
        return words.view(np.float16).astype(F)
    return (words.astype(np.uint32) << (0 if dtype == "f32" else 16)).view(F)


def from_f32(values: np.ndarray, dtype: str) -> np.ndarray:
    """Saturated, then rounded to nearest, ties to even."""
    most = {
        "f32": np.finfo(F).max,
        "f16": F(65504),
        "bf16": np.array([0x7F7F0000], "u4").view(F)[0],
    }
    values = np.clip(values, -most[dtype], most[dtype])
    if dtype == "f16":
        return values.astype(np.float16).view(np.uint16)
    bits = values.astype(F).view(np.uint32).astype(np.uint64)
    if dtype == "f32":
        return bits.astype(np.uint32)
    return ((bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)).astype("u2")


def bf16_value(code: int) -> Fraction:
    return Fraction(float(np.array([code << 16], np.uint32).view(F)[0]))


def find_scale(largest: F, most: int, power: bool) -> tuple[int, F]:
    """The code and the value of the least scale that is enough."""
    low, high = (1, 254) if power else (0x0080, 0x7F7F)

    def value(code: int) -> Fraction:
        return Fraction(2) ** (code - 127) if power else bf16_value(code)

    while low < high:
        middle = (low + high) // 2
        if value(middle) * most >= Fraction(float(largest)):
            high = middle
        else:
            low = middle + 1
    return low, F(float(value(low)))


E4M3 = [  # the magnitudes of codes 0 to 0x7E
    Fraction(code & 7, 512)
    if code < 8
    else Fraction(8 + (code & 7)) * Fraction(2) ** ((code >> 3) - 10)
    for code in range(0x7F)
]


def e4m3_nearest(y: F) -> int:
    magnitude = abs(Fraction(float(y)))
    best = min(range(0x7F), key=lambda code: (abs(E4M3[code] - magnitude), code & 1))
    return best | (0x80 if np.signbit(y) else 0)


def e4m3_drawn(y: F, drawn: int) -> int:
    magnitude, u = abs(y), Fraction(drawn, 65536)
    if magnitude < 2.0**-6:
        code = int(Fraction(float(F(magnitude * F(512)) + F(float(u)))))
    else:
        bits = int(np.array([magnitude], F).view(np.uint32)[0])
        code = ((bits + drawn * 16) >> 20) - 960
    return min(code, 0x7E) | (0x80 if np.signbit(y) else 0)


def mix(h: int) -> int:
    h = ((h ^ h >> 16) * 0x85EBCA6B) % 2**32
    h = ((h ^ h >> 13) * 0xC2B2AE35) % 2**32
    return h ^ h >> 16


def draw(seed: int, chunk: int, i: int) -> int:
    key = mix(mix(seed ^ chunk >> 32) ^ chunk % 2**32)
    return mix((key + (i // 2 + 1) * 0x9E3779B9) % 2**32) >> (16 * (i % 2)) & 0xFFFF


def element_of(y: F, kind: int, drawn: int | None) -> int:
    if kind == 2:
        return e4m3_nearest(y) if drawn is None else e4m3_drawn(y, drawn)
    if drawn is None:
        return int(np.rint(y))
    most = F(ELEMENTS[kind])
    return int(np.floor(F(max(min(y, most), -most) + F(drawn / 65536))))


def number_of(element: int, kind: int) -> F:
    if kind != 2:
        return F(element)
    return F(float(E4M3[element & 0x7F] * (-1 if element & 0x80 else 1)))


def turn(values: np.ndarray) -> np.ndarray:
    values, width = values.copy(), 1
    while width < len(values):
        for i in range(len(values)):
            if i & width == 0:
                low, high = values[i], values[i + width]
                values[i], values[i + width] = low + high, low - high
        width *= 2
    return values


def code_chunk(words: np.ndarray, dtype: str, parameter: int, chunk: int) -> tuple[bytes, bytes]:
    """The payload, and the values as decoded."""
    kind, block = parameter & 3, 32 << (parameter >> 2 & 3)
    power, turned, drawing = (bool(parameter >> bit & 1) for bit in (4, 5, 6))
    values = to_f32(words, dtype)
    values = np.concatenate([values, np.zeros(-len(values) % block, F)])
    elements, scales, decoded = [], b"", []
    for first in range(0, len(values), block):
        x = values[first : first + block]
        if turned:
            x = turn(x * F(1 / block))
        code, scale = find_scale(np.abs(x).max(), ELEMENTS[kind], power)
        inverse = F(1) / scale
        own = [
            element_of(
                F(y * inverse), kind, draw(parameter >> 32, chunk, first + i) if drawing else None
            )
            for i, y in enumerate(x)
        ]
        back = np.array([number_of(element, kind) for element in own], F)
        with np.errstate(over="ignore"):
            decoded.append((turn(back) if turned else back) * scale)
        elements += own
        scales += code.to_bytes(1 if power else 2, "little")
    if kind == 1:
        pairs = zip(elements[::2], elements[1::2], strict=True)
        stream = bytes((low & 15) | (high & 15) << 4 for low, high in pairs)
    else:
        stream = bytes(element & 255 for element in elements)
    stream += scales
    stream += bytes(-len(stream) % 8)
    return stream, from_f32(np.concatenate(decoded)[: len(words)], dtype).tobytes()


def cases() -> list[tuple[str, int, int, int]]:
    found = []
    for kind in ELEMENTS:
        for options in (0, 1 << 2, 1 << 4, 1 << 5 | 2 << 2, 1 << 6 | 77 << 32):
            for dtype in ("f32", "f16", "bf16"):
                count = 211 if dtype == "f32" and options == 0 else 163
                found.append((dtype, count, options | kind, 5 if options >> 6 & 1 else 0))
    return [
        *found,
        ("f32", 1, 0, 0),
        ("bf16", 33, 1, 0),
        ("f32", 160, 0x73 & ~3 | 99 << 32, 2**33 + 1),
    ]


def spec_of(parameter: int) -> str:
    """The options of a parameter, as the page has its bits."""
    words = [("bits=8", "bits=4", "format=e4m3")[parameter & 3]]
    words.append(f"block={32 << (parameter >> 2 & 3)}")
    words += ["scale=e8m0"] * (parameter >> 4 & 1) + ["hadamard=1"] * (parameter >> 5 & 1)
    words += ["round=stochastic", f"seed={parameter >> 32}"] if parameter >> 6 & 1 else []
    return "blockq:" + ",".join(words)


def make_file() -> Vectors:
    vectors = Vectors()
    periods = {dtype: make_period(dtype) for dtype in ("f32", "f16", "bf16")}
    for dtype, words in periods.items():
        vectors.period("mixed", dtype, words.tobytes())
    for dtype, count, parameter, chunk in cases():
        payload, decoded = code_chunk(np.resize(periods[dtype], count), dtype, parameter, chunk)
        vectors.case(
            spec_of(parameter),
            parameter,
            dtype,
            (count,),
            "mixed",
            [payload],
            decoded=decoded,
            chunk=chunk or None,
        )
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("blockq", make_file(), "spec/codec-blockq.md"))
