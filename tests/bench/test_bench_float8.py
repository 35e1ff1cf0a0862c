"""8-bit floats of benchmarks: the numbers that bytes stand for, and how others become them."""

import numpy as np
import pytest

from thinwire.bench import float8
from thinwire.bench.order0 import order0_ratio
from thinwire.bench.samples import Sample, from_float, to_float


def test_the_numbers_are_the_types() -> None:
    four, five = float8.numbers("e4m3"), float8.numbers("e5m2")
    assert four[[0x01, 0x07, 0x08, 0x38, 0x7E, 0xB8]].tolist() == [
        *(2.0**-9, 7 * 2.0**-9, 2.0**-6, 1, 448, -1)
    ]
    assert np.flatnonzero(np.isnan(four)).tolist() == [0x7F, 0xFF]
    # The upper halves of fp16.
    halves = (np.arange(256).astype(np.uint16) << 8).view(np.float16).astype(np.float64)
    assert np.array_equal(five, halves, equal_nan=True)


@pytest.mark.parametrize("dtype", ["e4m3", "e5m2"])
def test_numbers_become_the_nearest_bytes(dtype: str) -> None:
    largest = float8.LARGEST[dtype]
    finite = float8.numbers(dtype)[np.isfinite(float8.numbers(dtype))]
    assert np.array_equal(to_float(float8.scaled(finite, dtype), dtype), finite)
    values = np.random.default_rng(1).uniform(-1, 1, 500)
    values[0] = 1
    found = to_float(from_float(values, dtype), dtype)
    nearest = np.abs(finite - largest * values[:, None]).min(axis=1)
    assert np.array_equal(np.abs(found - largest * values), nearest)
    assert (float8.scaled(np.zeros(3), dtype) == 0).all()
    # Between 2 and the next one up: to the even mantissa, which is 2's; and from there up.
    step = 2.0 ** (1 - (3 if dtype == "e4m3" else 2))
    middles = np.array([2 + step / 2, 2 + 3 * step / 2, largest])
    assert to_float(float8.scaled(middles, dtype), dtype).tolist() == [2, 2 + 2 * step, largest]


def test_exponents_of_8_bits_have_an_entropy() -> None:
    # Two exponents, equally frequent: a bit each, beside sign and mantissa.
    assert order0_ratio(Sample("x", "e4m3", np.array([0x38, 0x40, 0x3A, 0x44], np.uint8))) == (
        pytest.approx(8 / (1 + 4))
    )
    assert order0_ratio(Sample("x", "e5m2", np.array([0x38, 0x40, 0x3A, 0x42], np.uint8))) == (
        pytest.approx(8 / (1 + 3))
    )
