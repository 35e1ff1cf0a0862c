"""Arrays of all kinds, which workers without Thinwire make, too."""

from typing import Any

import numpy as np


def make(kind: str, count: int = 60_000) -> Any:
    """An array, by name: workers make the same."""
    wave = np.sin(np.arange(count) / 1e3)
    grid = wave.reshape(60, -1)
    read_only = wave.copy()
    read_only.flags.writeable = False
    return {
        "f2": lambda: wave.astype("f2"),
        "f4": lambda: wave.astype("f4"),
        "f8": lambda: wave,
        "c8": lambda: (grid + 1j * grid[::-1]).astype("c8"),
        "c16": lambda: grid + 1j * grid[::-1],
        "fortran": lambda: np.asfortranarray(grid),
        "gaps": lambda: grid[:, ::2],
        "five": lambda: wave.reshape(2, 3, 4, 5, -1),
        "special": lambda: np.where(
            grid > 0.5, np.nan, np.where(grid < -0.5, -np.inf, -0.0 * grid)
        ),
        "read_only": lambda: read_only,
        "big_endian": lambda: wave.astype(">f4"),
        "integers": lambda: np.arange(count),
        "bools": lambda: wave > 0,
        "dates": lambda: np.arange(count).astype("M8[s]"),
        "objects": lambda: np.array([1, "two", None] * 100, dtype=object),
        "records": lambda: np.zeros(count, dtype=[("a", "f4"), ("b", "i4")]),
        "no_values": lambda: np.empty((0, 5), "f4"),
        "no_dimensions": lambda: np.array(3.5),
        "repeated": lambda: np.broadcast_to(wave[:10], (1000, 10)),
        "matrix": lambda: np.asmatrix(grid),
        "masked": lambda: np.ma.masked_array(wave, mask=wave > 0),
        "in_list": lambda: [wave, grid.astype("f4")],
        "in_dict": lambda: {"a": wave, "b": 1},
    }[kind]()


COMPRESSED = ["f2", "f4", "f8", "c8", "c16", "fortran", "gaps", "five", "special", "read_only"]
PLAIN = [
    "big_endian",
    "integers",
    "bools",
    "dates",
    "objects",
    "records",
    "no_values",
    "no_dimensions",
    "repeated",
    "matrix",
    "masked",
]
NESTED = ["in_list", "in_dict"]


def same(one: Any, other: Any) -> bool:
    """Type, values to the bit, and whether they may be written to."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if not isinstance(one, np.ndarray):
        return bool(one == other)
    if type(one) is not type(other) or one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.flags.writeable != other.flags.writeable:
        return False
    if one.dtype.hasobject:
        return one.tolist() == other.tolist()
    masks = np.ma.getmaskarray(one).tolist() == np.ma.getmaskarray(other).tolist()
    return masks and np.ma.getdata(one).tobytes() == np.ma.getdata(other).tobytes()


def check(x: Any, kind: str) -> bool:
    return same(x, make(kind))


def error_of(x: Any, kind: str) -> float:
    return float(np.abs(x - make(kind)).max())
