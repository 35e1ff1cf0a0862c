#!/usr/bin/env python3
"""Write the golden vectors of the expack codec, from a plain reading of spec/codec-expack.md.

    expack.py            write tests/vectors/expack-1d.txt
    expack.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: a value is taken at a time, as the page says.
"""

import sys

import numpy as np
import output

# A prime number of values, so that no two rows are alike and swapped ones show.
PERIOD = 509
ROW = 256
MODES = {"auto": 0, "fixed": 1, "entropy": 2}
LAYOUTS = {"bf16": (16, 8, 7), "f16": (16, 5, 10), "f32": (32, 8, 23)}  # bits, exponent, mantissa

# Codes of distances from the base: (inner, outer) in entropy kinds, one number in fixed ones.
KINDS = [
    {distance: distance - 2 for distance in range(2, 9)},
    {5: (0, None), 6: (1, None), 7: (2, None)}
    | {distance: (3, code) for code, distance in enumerate((0, 1, 2, 3, 4, 8, 9))},
    {"zero": 0} | {distance: distance - 2 for distance in range(3, 9)},
    {5: (0, None), 6: (1, None), "zero": (2, None)}
    | {distance: (3, code) for code, distance in enumerate((1, 2, 3, 4, 7, 8, 9))},
]

HEADER = f"""\
# expack, 1-D: payloads of one chunk. Written by tools/make_vectors/expack.py.
# period <name> <dtype> <{PERIOD} little-endian values, hex>: value i is period[i mod {PERIOD}]
# case <name> <dtype> <values> <parameter> <payload, hex>
"""


def make_period(name: str, dtype: str) -> np.ndarray:
    """Exponents as of gradients, flat ones, or half of them zeros, with signs and mantissas."""
    bits, exponent_bits, mantissa_bits = LAYOUTS[dtype]
    state, words = 2463534242, []
    for i in range(PERIOD):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        draw = state >> 33
        tail = (draw & 0x3FF).bit_length()  # 10 in half of the cases, 9 in a quarter, ...
        middle = (1 << (exponent_bits - 1)) - 4 + i // 200
        exponent = middle - 10 + tail + (draw >> 10 & 1)
        if name == "flat":
            exponent = middle - (draw % 7)
        if name == "zeros" and draw >> 12 & 1:
            exponent = 0
        if i in (77, 300):  # infinity or a NaN, and a subnormal
            exponent = (1 << exponent_bits) - 1 if i == 77 else 0
        mantissa = (state >> 40) % (1 << mantissa_bits)
        words.append((state >> 20 & 1) << (bits - 1) | exponent << mantissa_bits | mantissa)
    return np.array(words, dtype=f"<u{bits // 8}")


def filled_up(part: bytes) -> bytes:
    return part + bytes(-len(part) % 8)


def pack(fields: list[int], width: int) -> bytes:
    """Fields of a few bits, one behind the other, the first one lowest."""
    number = sum(field << (width * place) for place, field in enumerate(fields))
    return filled_up(number.to_bytes((width * len(fields) + 7) // 8, "little"))


def verbatim(values: list[int], dtype: str) -> bytes:
    signs = [value >> (LAYOUTS[dtype][0] - 1) for value in values]
    if dtype == "bf16":
        return pack([v & 0x7F | s << 7 for v, s in zip(values, signs, strict=True)], 8)
    if dtype == "f16":
        return pack([v & 0xFF for v in values], 8) + pack([v >> 8 & 3 for v in values], 2) + pack(
            signs, 1
        )
    highs = [v >> 16 & 0x7F | s << 7 for v, s in zip(values, signs, strict=True)]
    return pack([v & 0xFFFF for v in values], 16) + pack(highs, 8)


def code_order(dtype: str) -> list[int]:
    """The places of a row's values in code order."""
    if dtype != "f32":
        return list(range(ROW))
    return [half + 4 * group + i for group in range(32) for half in (0, 128) for i in range(4)]


def codes_of(exponents: list[int], bases: list[int], kind: int) -> tuple[list, list[int]]:
    """The code of each value, None for raw ones, and the raw exponents."""
    codes, raw = [], []
    for place, exponent in enumerate(exponents):
        distance = exponent - bases[place // ROW] if exponent else "zero"
        codes.append(KINDS[kind].get(distance))
        if codes[-1] is None:
            raw.append(exponent)
    return codes, raw


def coded(exponents: list[int], bases: list[int], kind: int) -> tuple[int, bytes]:
    """Bits of the codes, and the payload's parts from the inner codes on, behind the head."""
    codes, raw = codes_of(exponents, bases, kind)
    if kind % 2 == 0:
        numbers = [7 if code is None else code for code in codes]
        outer = []
        parts = pack([code & 3 for code in numbers], 2) + pack([code >> 2 for code in numbers], 1)
        bits = 3 * len(codes) + 8 * len(raw)
    else:
        pairs = [(3, 7) if code is None else code for code in codes]
        outer = [code for _, code in pairs if code is not None]
        parts = pack([code for code, _ in pairs], 2) + pack(outer, 3)
        bits = 2 * len(codes) + 3 * len(outer) + 8 * len(raw)
    head = len(outer) | len(raw) << 16 | kind << 32
    return bits, head.to_bytes(8, "little") + parts + pack(raw, 8)


def payload(values: list[int], dtype: str, mode: int) -> bytes:
    _, exponent_bits, mantissa_bits = LAYOUTS[dtype]
    largest = (1 << exponent_bits) - 1
    values = values + [values[-1]] * (-len(values) % ROW)
    plain = [value >> mantissa_bits & largest for value in values]
    bases = []
    for first in range(0, len(plain), ROW):
        present = [exponent for exponent in plain[first : first + ROW] if exponent]
        mean = sum(present) // len(present) if present else 0
        bases.append(min(max(mean - 5, 0), largest - 9))
    order = code_order(dtype)
    exponents = [plain[first + at] for first in range(0, len(plain), ROW) for at in order]
    kinds = {0: (0, 1, 2, 3), 1: (0, 2), 2: (1, 3)}[mode]
    choices = [coded(exponents, bases, kind) for kind in kinds]
    _, best = min(choices, key=lambda choice: choice[0])
    return best[:8] + filled_up(bytes(bases)) + verbatim(values, dtype) + best[8:]


def make_file() -> str:
    lines = []
    for dtype in LAYOUTS:
        for name in ("tail", "flat", "zeros"):
            period = make_period(name, dtype)
            lines.append(f"period {name} {dtype} {period.tobytes().hex()}\n")
            for length, mode in ((256, "auto"), (700, "auto"), (512, "fixed"), (470, "entropy")):
                values = [int(word) for word in np.resize(period, length)]
                stream = payload(values, dtype, MODES[mode])
                if len(stream) < length * LAYOUTS[dtype][0] // 8:
                    lines.append(f"case {name} {dtype} {length} {MODES[mode]} {stream.hex()}\n")
    return HEADER + "".join(lines)


if __name__ == "__main__":
    sys.exit(output.run("expack-1d.txt", make_file(), "spec/codec-expack.md"))
