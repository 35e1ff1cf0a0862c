"""8-bit floats, which numpy has none of: bytes to numbers, and numbers to bytes under a scale."""

from functools import cache

import numpy as np

# The largest finite value of each type.
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}
_MANTISSA_BITS = {"e4m3": 3, "e5m2": 2}


@cache
def numbers(dtype: str) -> np.ndarray:
    """The number that each byte stands for, as fp64."""
    mantissa_bits = _MANTISSA_BITS[dtype]
    bias = (1 << (6 - mantissa_bits)) - 1
    magnitudes = np.arange(128)
    exponents, mantissas = magnitudes >> mantissa_bits, magnitudes & ((1 << mantissa_bits) - 1)
    fractions = np.where(exponents == 0, mantissas, mantissas + (1 << mantissa_bits))
    found = fractions * 2.0 ** (np.maximum(exponents, 1) - bias - mantissa_bits)
    if dtype == "e4m3":
        found[127] = np.nan
    else:
        found[124:] = [np.inf, np.nan, np.nan, np.nan]
    return np.concatenate([found, -found])


def scaled(values: np.ndarray, dtype: str) -> np.ndarray:
    """Finite values times what makes the largest of them the type's largest, rounded to nearest,
    ties to even."""
    largest = np.abs(values).max(initial=0)
    magnitudes = np.abs(values) * (LARGEST[dtype] / largest if largest else 1)
    finite = numbers(dtype)[:128]
    finite = finite[finite <= LARGEST[dtype]]
    middles = (finite[1:] + finite[:-1]) / 2
    lower, upper = (np.searchsorted(middles, magnitudes, side) for side in ("left", "right"))
    words = np.where((lower != upper) & (lower % 2 != 0), upper, lower)
    return (words | np.signbit(values).astype(np.int64) << 7).astype(np.uint8)
