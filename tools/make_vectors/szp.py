#!/usr/bin/env python3
"""Write the golden vectors of the szp codec, from a plain reading of spec/codec-szp.md.

    szp.py            write tests/vectors/szp.txt
    szp.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: floats are numpy's, integers and bits are Python's.
"""

import itertools
import struct
import sys

import numpy as np
import output
from output import Vectors

# A prime number of values, so that no two tiles of a box are alike and swapped ones show.
PERIOD = 251
EDGES = {1: 4096, 2: 64, 3: 16}
RADICES = [1, 2, 3, 4, 5, 6, 8, 9, 11, 13, 16, 19, 22, 26, 32, 38, 45, 53, 64, 90, 128, 256]
RADICES += [1 << bits for bits in (9, 10, 11, 12, 14, 16, 18, 21, 25, 32)]
ROW_BITS = [0, 4, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 32]
ROW_BITS += [4 * (radix.bit_length() - 1) for radix in RADICES[22:]]

# cleared bits, margin, least half, most half, limit of q
TYPES = {
    "f32": (np.float32, 14, 2.0**-10, 2.0**-101, 2.0**119, 2.0**22),
    "f64": (np.float64, 32, 2.0**-26, 2.0**-901, 2.0**999, 2.0**30),
}

CASES = [
    ("f32", (1,), 0.01),
    ("f32", (3,), 0.0),
    ("f32", (40,), 0.25),
    ("f32", (251,), 1e-3),
    ("f32", (600,), 1e-38),
    ("f32", (4096,), 0.3),
    ("f32", (20, 30), 0.01),
    ("f32", (9, 64), 1e-6),
    ("f32", (5, 6, 7), 0.02),
    ("f32", (16, 16, 16), 100.0),
    ("f32", (3, 16, 2), 1e30),
    ("f64", (1,), 0.01),
    ("f64", (300,), 1e-3),
    ("f64", (33, 9), 1e-7),
    ("f64", (4, 5, 16), 0.5),
    ("f64", (7, 3, 3), 1e-300),
]


def make_period(name: str) -> np.ndarray:
    """Smooth, integer, noisy and sparse stretches, and what must be stored."""
    kind = TYPES[name][0]
    values = np.zeros(PERIOD, dtype=kind)
    state = 12345
    for i in range(PERIOD):
        state = (state * 1103515245 + 12345) % 2**31
        noise = state / 2**30 - 1.0
        x = i / 50 - 1
        if i < 100:
            values[i] = 3 * (x * x * x - 0.5 * x)  # a polynomial: every libm gives the same bits
        elif i < 150:
            values[i] = i % 13 - 6
        elif i < 200:
            values[i] = noise
        elif i < 240:
            values[i] = noise * 1e4 if i % 9 == 0 else 0
    values[60:64] = [np.nan, np.inf, -np.inf, -0.0]
    values[245:248] = [np.finfo(kind).max, np.finfo(kind).tiny / 8, 1e7]
    return values


def make_lattice(name: str, bound: float):
    """half, step and reciprocal, or None."""
    kind, cleared, margin, least, most, _ = TYPES[name]
    if bound == 0:
        return None
    half = kind(min(bound, float(np.finfo(kind).max)))
    if float(half) > bound:
        half = np.nextafter(half, kind(0))
    half = min(half, kind(most))
    if half < least:
        return None
    word = f"u{np.dtype(kind).itemsize}"
    unit = 1 << cleared
    twice = kind(half + half)
    pattern = int(twice.view(word)) // unit * unit
    step = np.array([pattern], word).view(kind)[0]
    if step < twice and kind(twice - step) < kind(step * kind(margin)):
        step = np.array([pattern - unit], word).view(kind)[0]
    return half, step, kind(kind(1) / step)


def quantise(name: str, value, lattice) -> tuple[int, bool]:
    kind, limit = TYPES[name][0], TYPES[name][5]
    half, step, inverse = lattice
    place = kind(value * inverse)
    if not abs(place) < limit:
        return 0, False
    index = int(np.rint(place))
    return index, bool(abs(kind(value - kind(kind(index) * step))) <= half)


def tile_of(place: tuple[int, ...]) -> tuple[int, int]:
    """The tile of a place in its box, and the place's number there."""
    if len(place) == 1:
        return place[0] // 16, place[0] % 16
    *planes, y, x = place
    across = EDGES[len(place)] // 4
    tile = y // 4 * across + x // 4 + (planes[0] * 16 if planes else 0)
    return tile, y % 4 * 4 + x % 4


def difference(indices: dict) -> dict:
    """Differences along every axis, zeros before the near faces."""
    for axis in range(len(next(iter(indices)))):
        before = lambda place: place[:axis] + (place[axis] - 1,) + place[axis + 1 :]  # noqa: B023, E731
        indices = {place: q - indices.get(before(place), 0) for place, q in indices.items()}
    return indices


def wrap(value: int) -> int:
    """As a signed number of 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


def tiles_of(residuals: dict) -> list[list[int]]:
    tiles = [[0] * 16 for _ in range(256)]
    for place, residual in residuals.items():
        tile, at = tile_of(place)
        tiles[tile][at] = wrap(residual) if any(place) else 0
    return tiles


def code_of(tile: list[int]) -> int:
    holds = lambda radix: all(-(radix // 2) <= r < radix - radix // 2 for r in tile)  # noqa: E731
    return next(code for code, radix in enumerate(RADICES) if holds(radix))


def bits_to_bytes(bits: list[tuple[int, int]]) -> bytes:
    """(value, how many bits) one behind the other, up to a whole word."""
    stream = length = 0
    for value, count in bits:
        stream |= value << length
        length += count
    return stream.to_bytes((length + 31) // 32 * 4, "little")


def digits_of(tiles: list[list[int]], codes: list[int]) -> bytes:
    bits = []
    for tile, code in zip(tiles, codes, strict=True):
        radix = RADICES[code]
        for row in range(0, 16 if code else 0, 4):
            digits = [r + radix // 2 for r in tile[row : row + 4]]
            number = sum(digit * radix**k for k, digit in enumerate(digits))
            bits.append((number, ROW_BITS[code]))
    return bits_to_bytes(bits)


def patches_of(stored: dict) -> bytes:
    """`stored`: (tile, place in it) to the bytes of a value."""
    masks = [sum(1 << at for of, at in stored if of == tile) for tile in range(256)]
    bitmap = sum((mask != 0) << tile for tile, mask in enumerate(masks)).to_bytes(32, "little")
    words = bits_to_bytes([(mask, 16) for mask in masks if mask])
    return bitmap + words + b"".join(stored[key] for key in sorted(stored))


def payload_of(name: str, values: np.ndarray, bound: float) -> tuple[bytes | None, np.ndarray]:
    """The payload, None if the values would be stored instead, and what it decodes to."""
    lattice = make_lattice(name, bound)
    flat = values.tobytes() == values.reshape(-1)[:1].tobytes() * values.size
    constant = struct.pack("<I", 1 << 13) + values.reshape(-1)[:1].tobytes()
    if lattice is None:
        return (constant if flat and len(constant) < values.nbytes else None), values
    indices, stored, decoded = {}, {}, values.copy()
    for place in itertools.product(*map(range, values.shape)):
        index, bounded = quantise(name, values[place], lattice)
        indices[place] = index
        if bounded:
            decoded[place] = values.dtype.type(index) * lattice[1]
        else:
            stored[tile_of(place)] = values[place].tobytes()
    if stored and flat and len(constant) < values.nbytes:
        return constant, values
    choices = []
    for is_plain, residuals in ((False, difference(indices)), (True, indices)):
        tiles = tiles_of(residuals)
        codes = [code_of(tile) for tile in tiles]
        choices.append((sum(ROW_BITS[code] for code in codes), is_plain, tiles, codes))
    _, is_plain, tiles, codes = min(choices, key=lambda choice: choice[:2])
    corner = indices[(0,) * values.ndim] % 2**32
    if not any(codes) and not corner and not stored:
        return b"", decoded
    planes = max(codes).bit_length()
    groups = [codes[at : at + 32] for at in range(0, 256, 32)]
    head = sum(any(group) << at for at, group in enumerate(groups))
    head |= planes << 8 | (not is_plain) << 11 | bool(stored) << 12
    payload = struct.pack("<II", head, corner)
    for group in groups:
        for plane in range(planes if any(group) else 0):
            word = sum((code >> plane & 1) << lane for lane, code in enumerate(group))
            payload += struct.pack("<I", word)
    payload += digits_of(tiles, codes) + (patches_of(stored) if stored else b"")
    return (payload, decoded) if len(payload) < values.nbytes else (None, values)


def make_file() -> Vectors:
    vectors = Vectors()

    def add(name: str, dtype: str, values: np.ndarray, bound: float) -> None:
        payload, decoded = payload_of(dtype, values, bound)
        word = struct.unpack("<Q", struct.pack("<d", bound))[0]
        back = decoded.tobytes()
        vectors.case(f"szp:abs={bound!r}", word, dtype, values.shape, name, [payload], decoded=back)

    periods = {dtype: make_period(dtype) for dtype in TYPES}
    for dtype, period in periods.items():
        vectors.period("mixed", dtype, period.tobytes())
    for dtype, shape, bound in CASES:
        add("mixed", dtype, np.resize(periods[dtype], shape), bound)
    for dtype, (kind, *_) in TYPES.items():
        for number, value in enumerate((0.0, -0.0, 1.5, np.nan, 1e30)):
            values = np.full(100, value, kind)
            vectors.period(f"flat-{number}", dtype, values[:1].tobytes())
            for bound in (0.0, 1e-3):
                add(f"flat-{number}", dtype, values, bound)
    return vectors


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        sys.exit(output.run("szp", make_file(), "spec/codec-szp.md"))
