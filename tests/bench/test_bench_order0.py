"""The order-0 ratio is what the formula says, and no codec of exponents alone is beyond it."""

import numpy as np
import pytest

from thinwire.bench.order0 import order0_ratio
from thinwire.bench.samples import Sample


def ratio(values: list[float], dtype: str) -> float | None:
    return order0_ratio(Sample("x", dtype, np.array(values, {"f32": "<f4", "f64": "<f8"}[dtype])))


def test_exponents_cost_their_entropy() -> None:
    # Two exponents, equally frequent: a bit each, beside sign and mantissa.
    assert ratio([1.0, 2.0, 1.5, 3.0], "f32") == pytest.approx(32 / (1 + 1 + 23))
    # One exponent costs nothing; of fp64 52 bits of mantissa stay.
    assert ratio([1.0, 1.5, -1.25, 1.75], "f64") == pytest.approx(64 / 53)


def test_zeros_cost_the_mask_alone() -> None:
    # Half of the values: a bit each of mask, and 24 bits for every other.
    assert ratio([0.0, 1.0, 0.0, 1.5], "f32") == pytest.approx(32 / (1 + 24 / 2))
    # -0 is no zero of all bits: it has an exponent, 0, and a sign.
    assert ratio([-0.0, -0.0], "f32") == pytest.approx(32 / 24)
    assert ratio([0.0, 0.0], "f32") is None


def test_words_of_bf16_are_read_as_such_and_bytes_have_none() -> None:
    words = np.array([0x3F80, 0x4000, 0x3FC0, 0x4040], np.uint16)
    assert order0_ratio(Sample("x", "bf16", words)) == pytest.approx(16 / (1 + 1 + 7))
    assert order0_ratio(Sample("x", "bytes", words.view(np.uint8))) is None
