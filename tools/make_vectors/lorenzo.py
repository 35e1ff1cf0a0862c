#!/usr/bin/env python3
"""Write the golden vectors of the lorenzo codec, from a plain reading of spec/codec-lorenzo.md.

    lorenzo.py            write tests/vectors/lorenzo.txt
    lorenzo.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here; integers have no size, and bits are moved as the page
says.
"""

import itertools
import sys

import numpy as np
import output
from output import Vectors
from period import Stretches, make_period

STRETCHES = Stretches(smooth=170, constant=200, sparse=240, half=60, seed=54321)
BITS = {"f32": 32, "f64": 64, "bf16": 16, "f16": 16}
LINES = [((1,), 1), ((70,), 1), ((33,), 3), ((200,), 2)]
# Rows of a box with more than one axis, in a frame.
ROW_BYTES = 128
FIELDS = [((9, 9), 1), ((3, 1, 20), 1), ((3, 5, 9), 1), ((4, 4, 6), 3), ((2, 6, 8), 2)]


def residuals(values: list[int], shape: tuple[int, ...], steps: tuple[int, ...], bits: int):
    """Each value, sign lowest, less its prediction; 0 outside the box."""
    modulus = 1 << bits
    grid = {}
    for place, value in zip(itertools.product(*map(range, shape)), values, strict=True):
        grid[place] = (value << 1 | value >> (bits - 1)) % modulus
    for axis, step in enumerate(steps):
        grid = {
            place: (value - grid.get(moved(place, axis, step), 0)) % modulus
            for place, value in grid.items()
        }
    return grid


def moved(place: tuple[int, ...], axis: int, step: int) -> tuple[int, ...]:
    return (*place[:axis], place[axis] - step, *place[axis + 1 :])


def pieces_of_brick(dimension: int) -> list[tuple[int, ...]]:
    """The pieces of a brick in their order, each as what counts of (plane, row, piece along x)."""
    if dimension == 1:
        return [(piece,) for piece in range(8)]
    if dimension == 2:
        return [(row, 0) for row in range(8)]
    order = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    return [(plane, row, 0) for plane, row in order]


def bricks(grid: dict, shape: tuple[int, ...], each: int) -> list[list[int]]:
    """The residuals brick by brick, `each` in a piece; 0 if a brick reaches past the box."""
    spans = {1: (8 * each,), 2: (8, each), 3: (2, 4, each)}[len(shape)]
    found = []
    for corner in itertools.product(
        *(range(0, extent, span) for extent, span in zip(shape, spans, strict=True))
    ):
        values = []
        for piece in pieces_of_brick(len(shape)):
            for x in range(each):
                inside = (*piece[:-1], piece[-1] * each + x)
                place = tuple(a + b for a, b in zip(corner, inside, strict=True))
                values.append(grid.get(place, 0))
        found.append(values)
    return found


def folded(residual: int, bits: int) -> int:
    return (residual * 2 if residual < 1 << (bits - 1) else ~(residual * 2)) % (1 << bits)


def planes(values: list[int], numbers: range) -> list[int]:
    found = [sum((v >> plane & 1) << at for at, v in enumerate(values)) for plane in numbers]
    while found and found[-1] == 0:
        found.pop()
    return found


def halves(values: list[int], bits: int) -> tuple[list[int], list[int]]:
    if bits == 64:
        return planes(values, range(32)), planes(values, range(32, 64))
    if bits == 32:
        return planes(values[:16], range(32)), planes(values[16:], range(32))
    return planes(values[::2], range(16)), planes(values[1::2], range(16))


def payload(values: list[int], shape: tuple[int, ...], tuple_values: int, bits: int) -> bytes:
    shape = (*(extent for extent in shape[:-1] if extent > 1), shape[-1])
    grid = residuals(values, shape, (1,) * (len(shape) - 1) + (tuple_values,), bits)
    if not any(grid.values()):
        return b""
    widths, joint, single, count = 0, b"", b"", 0
    for brick in bricks(grid, shape, 128 // bits):
        a, b = halves([folded(residual, bits) for residual in brick], bits)
        widths |= (len(a) | len(b) << 6) << 12 * count
        count += 1
        if bits == 16:
            joint += b"".join(plane.to_bytes(4, "little") for plane in a + b)
            continue
        both = min(len(a), len(b))
        joint += b"".join((a[p] | b[p] << 16).to_bytes(4, "little") for p in range(both))
        single += b"".join(plane.to_bytes(2, "little") for plane in a[both:] + b[both:])
    stream = widths.to_bytes((12 * count + 31) // 32 * 4, "little") + joint + single
    return stream + bytes(-len(stream) % 8)


def make_file() -> Vectors:
    vectors = Vectors()
    for dtype, bits in BITS.items():
        period = make_period(bits, STRETCHES)
        vectors.period("mixed", dtype, period.tobytes())
        for shape, number in LINES + FIELDS:
            values = [int(word) for word in np.resize(period, int(np.prod(shape)))]
            payloads = [payload(values, shape, number, bits)]
            # A frame has boxes of shorter rows.
            is_alone = len(shape) > 1 and shape[-1] * bits > 8 * ROW_BYTES
            chunk = 0 if is_alone else None
            spec = f"lorenzo:tuple={number}"
            vectors.case(spec, number, dtype, shape, "mixed", payloads, chunk=chunk)
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("lorenzo", make_file(), "spec/codec-lorenzo.md"))
