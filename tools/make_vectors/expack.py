#!/usr/bin/env python3
"""Write the golden vectors of the expack codec, from a plain reading of spec/codec-expack.md.

    expack.py            write tests/vectors/expack.txt
    expack.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: a value is taken at a time, as the page says.
"""

import sys

import numpy as np
import output
from output import Vectors

# A prime number of values, so that no two rows are alike and swapped ones show.
PERIOD = 509
ROW = 256
MODES = {"auto": 0, "fixed": 1, "entropy": 2}
# Bits of all, of the exponent and of the mantissa.
LAYOUTS = {
    "bf16": (16, 8, 7),
    "f16": (16, 5, 10),
    "f32": (32, 8, 23),
    "e4m3": (8, 4, 3),
    "e5m2": (8, 5, 2),
}

# Codes of distances from the base: (inner, outer) in entropy kinds, one number in fixed ones.
KINDS = [
    {distance: distance - 2 for distance in range(2, 9)},
    {5: (0, None), 6: (1, None), 7: (2, None)}
    | {distance: (3, code) for code, distance in enumerate((0, 1, 2, 3, 4, 8, 9))},
    {"zero": 0} | {distance: distance - 2 for distance in range(3, 9)},
    {5: (0, None), 6: (1, None), "zero": (2, None)}
    | {distance: (3, code) for code, distance in enumerate((1, 2, 3, 4, 7, 8, 9))},
]


def make_period(name: str, dtype: str) -> np.ndarray:
    """Exponents as of gradients, flat ones, half of them zeros, nearly all alike, one of three, or
    far apart, with signs and mantissas; of "sparse" values half are zero."""
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
        if name.endswith(("alike", "three")):
            exponent = middle - i // 200 - (draw % 3 if name == "three" else 0)
        if name.endswith("far"):
            many = min(15, (1 << exponent_bits) // 2 - 1)
            exponent = 1 + 2 * (draw % many) if draw >> 12 & 3 else middle
        if i in (77, 300) and not name.endswith("alike"):  # infinity or a NaN, and a subnormal
            exponent = (1 << exponent_bits) - 1 if i == 77 else 0
        exponent = max(exponent, 0)
        mantissa = (state >> 40) % (1 << mantissa_bits)
        word = (state >> 20 & 1) << (bits - 1) | exponent << mantissa_bits | mantissa
        words.append(0 if name.startswith("sparse") and draw >> 13 & 1 else word)
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
        return (
            pack([v & 0xFF for v in values], 8)
            + pack([v >> 8 & 3 for v in values], 2)
            + pack(signs, 1)
        )
    if dtype == "e4m3":
        return pack([v & 7 | s << 3 for v, s in zip(values, signs, strict=True)], 4)
    if dtype == "e5m2":
        return pack([v & 3 for v in values], 2) + pack(signs, 1)
    highs = [v >> 16 & 0x7F | s << 7 for v, s in zip(values, signs, strict=True)]
    return pack([v & 0xFFFF for v in values], 16) + pack(highs, 8)


def group(dtype: str, number: int) -> list[int]:
    """The places in a row of a group's values."""
    if dtype != "f32":
        return list(range(8 * number, 8 * number + 8))
    return [half + 4 * number + i for half in (0, 128) for i in range(4)]


def rows_in_code(rows: list[list[int]], bases: list[int], kind: int) -> list[list]:
    """The code of each value of some rows; a pair of None and the exponent for raw ones."""
    coded = []
    for row, base in zip(rows, bases, strict=True):
        distances = ["zero" if kind >= 2 and not e else e - base for e in row]
        codes = [KINDS[kind].get(distance) for distance in distances]
        coded.append([(None, e) if c is None else c for c, e in zip(codes, row, strict=True)])
    return coded


class Stretch:
    """Some rows' codes: inner ones in row order, outer ones and raw exponents in lane order."""

    def __init__(self, rows: list[list[int]], bases: list[int], kind: int, dtype: str) -> None:
        self.kind, self.inner, self.outer, self.raw = kind, [], [], []
        coded = rows_in_code(rows, bases, kind)
        is_raw = [[isinstance(c, tuple) and c[0] is None for c in row] for row in coded]
        for row, raws in zip(coded, is_raw, strict=True):
            for number in range(32):
                for at in group(dtype, number):
                    self.inner.append(3 if raws[at] else row[at][0] if kind % 2 else row[at] & 3)
        for number in range(32):
            for row, raws in zip(coded, is_raw, strict=True):
                for at in group(dtype, number):
                    code = 7 if raws[at] else row[at][1] if kind % 2 else row[at]
                    if raws[at]:
                        self.raw.append(row[at][1])
                    if kind % 2 == 0:
                        self.outer.append(str(code >> 2))
                    elif code is not None:
                        self.outer.append(f"{code:03b}"[::-1])  # the lowest bit first

    def outer_bits(self) -> int:
        return sum(len(field) for field in self.outer)


def choose(rows: list[list[int]], bases: list[int], dtype: str, mode: int) -> Stretch:
    values = [exponent for row in rows for exponent in row]
    if not values:
        return Stretch([], [], 0, dtype)
    zeros = 2 if 16 * values.count(0) >= len(values) else 0
    fixed, entropy = (Stretch(rows, bases, zeros + bit, dtype) for bit in (0, 1))
    bits = entropy.outer_bits() + 8 * len(entropy.raw)
    pays = bits < len(values) + 8 * len(fixed.raw)
    return entropy if mode == 2 or (mode == 0 and pays) else fixed


def in_row_order(rows: list[list], dtype: str) -> list:
    return [row[at] for row in rows for number in range(32) for at in group(dtype, number)]


def in_rows(values: list) -> list[list]:
    return [values[first : first + ROW] for first in range(0, len(values), ROW)]


def best_dictionary(rows: list[list[int]], size: int) -> tuple[int, list[int]] | None:
    """The width of places and the exponents, where that takes less than codes of so many bits."""
    exponents = [exponent for row in rows for exponent in row]
    count = len(exponents)
    if not (2 * size < count or 2 * size > 3 * count):
        return None
    ranked = sorted(set(exponents), key=lambda e: (-exponents.count(e), e))
    best = None
    least = 2 * count + size - 128
    for width in range(5):
        listed = ranked[: 1 << width]
        raw = 0
        if len(ranked) > 1 << width:
            listed = listed[:-1]
            raw = sum(exponent not in listed for exponent in exponents)
        if width * count + 8 * raw < least:
            least = width * count + 8 * raw
            best = width, listed
    return best


def with_dictionary(
    rows: list[list[int]], dtype: str, width: int, listed: list[int]
) -> tuple[list[int], bytes]:
    """The words of the head, and what lies behind the verbatim part."""
    last = (1 << width) - 1
    places = [[listed.index(e) if e in listed else last for e in row] for row in rows]
    parts = bytes(listed) + bytes(16 - len(listed))
    for number in range(0, ROW * len(rows), 8):
        of_group = in_row_order(places, dtype)[number : number + 8]
        for bit in range(width):
            parts += bytes([sum((place >> bit & 1) << j for j, place in enumerate(of_group))])
    head, raw = [], []
    each = -(-len(rows) // 4)
    for first in range(0, 4 * each, each):
        for number in range(32):
            for row in rows[first : first + each]:
                raw += [row[at] for at in group(dtype, number) if row[at] not in listed]
        head.append(width | len(raw) << 17)
    return head, parts + pack(raw, 8)


def payload(values: list[int], dtype: str, mode: int) -> bytes:
    bits, exponent_bits, _ = LAYOUTS[dtype]
    mask, flag = b"", 0
    if (bits - exponent_bits) * values.count(0) >= len(values):
        filled = in_row_order(in_rows(values + [0] * (-len(values) % ROW)), dtype)
        mask, flag = pack([int(value != 0) for value in filled], 1), 1 << 31
        values = [value for value in filled if value]
        if not values:
            return flag.to_bytes(16, "little")
    head, bases, parts = code(values, dtype, mode)
    head[0] |= flag
    start = b"".join(word.to_bytes(4, "little") for word in head) + mask
    fill = -len(values) % (8 if mask else ROW)
    return start + bases + verbatim(values + [values[-1]] * fill, dtype) + parts


def code(values: list[int], dtype: str, mode: int) -> tuple[list[int], bytes, bytes]:
    """The words of the head, the bases, and what lies behind the verbatim part."""
    _, exponent_bits, mantissa_bits = LAYOUTS[dtype]
    largest = (1 << exponent_bits) - 1
    values = values + [values[-1]] * (-len(values) % ROW)
    rows = in_rows([value >> mantissa_bits & largest for value in values])
    bases = []
    for row in rows:
        present = [exponent for exponent in row if exponent]
        mean = sum(present) // len(present) if present else 0
        bases.append(min(max(mean - 5, 0), largest - 9))
    each = -(-len(rows) // 4)
    head, inner, outer, raw = [], [], "", []
    for first in range(0, 4 * each, each):
        stretch = choose(rows[first : first + each], bases[first : first + each], dtype, mode)
        inner += stretch.inner
        outer += "".join(stretch.outer)
        raw += stretch.raw
        head.append(len(outer) | stretch.kind << 15 | len(raw) << 17)
    parts = pack(inner, 2) + pack([int(bit) for bit in outer], 1) + pack(raw, 8)
    best = best_dictionary(rows, len(outer) + 8 * len(raw)) if mode == 0 else None
    if best:
        head, parts = with_dictionary(rows, dtype, *best)
        head[1] |= 1 << 31
    return head, filled_up(bytes(bases)), parts


def make_file() -> Vectors:
    vectors = Vectors()

    def add(name: str, dtype: str, length: int, mode: str) -> None:
        values = [int(word) for word in np.resize(make_period(name, dtype), length)]
        stream = payload(values, dtype, MODES[mode])
        if len(stream) < length * LAYOUTS[dtype][0] // 8:
            vectors.case(f"expack:mode={mode}", MODES[mode], dtype, (length,), name, [stream])

    for dtype in LAYOUTS:
        for name in ("tail", "flat", "zeros"):
            vectors.period(name, dtype, make_period(name, dtype).tobytes())
            most = 1010 if dtype == "f32" else 1270
            for length, mode in ((256, "auto"), (most, "auto"), (512, "fixed"), (470, "entropy")):
                add(name, dtype, length, mode)
    # Since version 1: masks and dictionaries.
    for dtype, (bits, _, _) in LAYOUTS.items():
        for name in ("sparse", "alike", "three", "far", "sparse-alike", "sparse-far"):
            vectors.period(name, dtype, make_period(name, dtype).tobytes())
            for length, mode in ((256, "auto"), (1010, "auto"), (700, "entropy")):
                add(name, dtype, length, mode)
        vectors.period("nothing", dtype, bytes(PERIOD * bits // 8))
        zeros = payload([0] * 1000, dtype, 0)
        vectors.case("expack:mode=auto", 0, dtype, (1000,), "nothing", [zeros])
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("expack", make_file(), "spec/codec-expack.md"))
