"""The arrays of benches: the recipes that make them, 8-bit floats, and the ratio of order 0."""

import math

import numpy as np
import pytest

from thinwire.bench import float8, generators, samples, specs
from thinwire.bench.samples import Sample, from_float, order0_ratio, to_float
from thinwire.codec import codecs

# The recipes of generated arrays, and what error and shape mean for a codec under test.


@pytest.mark.parametrize("name", ["gradients", "repetitive", "random", "smooth"])
def test_recipes_are_the_same_each_time_and_as_long_as_asked(name: str) -> None:
    first, second = (generators.generate(name, "f32", 1 << 18) for _ in range(2))
    assert first.values.shape == (1 << 16,) and first.values.dtype == np.float32
    assert np.array_equal(first.values.view(np.uint32), second.values.view(np.uint32))
    if name != "repetitive":  # whose number of runs follows the length
        longer = generators.generate(name, "f32", 1 << 16)
        assert longer.values.size == 1 << 14


def test_gradients_have_heavy_tails_and_a_scale_per_stretch() -> None:
    values = generators.gradients(1 << 22, "f32").reshape(64, 65536)
    scales = np.median(np.abs(values), axis=1)
    assert np.median(scales) == pytest.approx(0.741e-3, rel=0.4)
    assert np.std(np.log(scales)) == pytest.approx(0.8, rel=0.3)
    # Student t: the median of |t| is 0.741, and |t| > 8.61 has a chance of 0.001.
    standard = np.abs(values) / (scales[:, None] / 0.741)
    assert (standard > 8.61).mean() == pytest.approx(0.001, rel=0.2)
    other = generators.gradients(1 << 22, "bf16")
    assert abs(np.corrcoef(values.ravel(), other)[0, 1]) < 0.01


def test_repetitive_values_come_in_runs() -> None:
    values = generators.repetitive(1 << 18, "f32")
    repeats = (np.diff(values) == 0).mean()
    assert repeats == pytest.approx((1 - 1 / 24) * 15 / 16, abs=0.01)
    assert len(np.unique(values[1:][np.diff(values) == 0])) <= 4096


@pytest.mark.slow
def test_the_wavefields_are_what_they_say() -> None:
    field = generators.wavefield()
    assert field.shape == (256, 256, 256) and math.isclose(np.abs(field).max(), 1, rel_tol=1e-5)
    assert np.array_equal(generators.wavefield(3), field[126:129])
    assert np.abs(generators.early_wavefield()).max() == pytest.approx(1, rel=1e-6)
    counts = (1, 3 * 65536, 1 << 30)
    assert [generators.planes_in(count) for count in counts] == [1, 3, 256]
    # Smooth but for the noise: neighbours differ little.
    assert np.median(np.abs(np.diff(field, axis=2))) < 0.01
    early = generators.early_wavefield()
    assert (early == 0).mean() == pytest.approx(0.63, abs=0.01)
    assert np.abs(early[early != 0]).min() >= 1e-9


@pytest.mark.slow
def test_turbulence_has_its_spectrum() -> None:
    field = generators.turbulence(1 << 24, "f32")
    assert field.shape == (256, 256, 256) and field.std() == pytest.approx(1)
    power = np.abs(np.fft.rfftn(field)) ** 2
    on_axis = [np.mean([power[k, 0, 0], power[0, k, 0], power[0, 0, k]]) for k in range(1, 100)]
    k = np.arange(1, 100)
    expected = (k ** (-11 / 6) * np.exp(-k / 60)) ** 2
    assert np.corrcoef(np.log(on_axis), np.log(expected))[0, 1] > 0.95


def test_folding_makes_the_slowest_axes_one() -> None:
    assert samples.folded((6, 32, 32, 32), 3) == (192, 32, 32)
    assert samples.folded((6, 32, 32, 32), 1) == (6 * 32**3,)
    assert samples.folded((5, 7), 3) == (5, 7)


def test_no_shape_makes_a_difference_to_raw() -> None:
    raw = next(row for row in codecs() if row.name == "raw")
    sample = Sample("x", "f32", np.zeros((4, 4), np.float32))
    assert [each.shape_text for each in specs.variants(sample, raw)] == ["16"]


def test_errors_are_of_finite_values_against_the_bound() -> None:
    before = np.array([0, 1, 2, 4, np.nan, np.inf], np.float32)
    after = before + np.array([0, 0.5, 0, 0.25, 0, 0], np.float32)
    error = specs.error_of("x:rel=0.25", Sample("x", "f32", before), after.view(np.uint8))
    assert (error.largest, error.range, error.bound) == (0.5, 4, 1) and error.is_kept
    assert error.over_bound == 0.5
    assert error.psnr == pytest.approx(20 * math.log10(4 / math.sqrt((0.25 + 0.0625) / 4)))
    tight = specs.error_of("x:abs=0.4", Sample("x", "f32", before), after.view(np.uint8))
    assert not tight.is_kept
    after[4] = 7
    assert specs.error_of("x", Sample("x", "f32", before), after.view(np.uint8)).largest == math.inf
    same = specs.error_of("x", Sample("x", "f32", before), before.view(np.uint8))
    assert same.largest == 0 and same.psnr is None and same.over_bound is None


@pytest.mark.parametrize("fill", [1e36, math.nan])
def test_missing_values_come_back_and_have_no_part_in_the_range(fill: float) -> None:
    before = np.array([0, 1, fill, 4, fill], np.float32)
    spec, sample = f"x:rel=0.25,fill={fill}", Sample("x", "f32", before)
    after = before + np.array([0, 0.5, 0, 0, 0], np.float32)
    error = specs.error_of(spec, sample, after.view(np.uint8))
    assert (error.largest, error.range, error.bound) == (0.5, 4, 1) and error.is_kept
    after.view(np.uint32)[2] ^= 1
    assert specs.error_of(spec, sample, after.view(np.uint8)).largest == math.inf


def test_cast_makes_nans_the_usual_one_but_for_missing_ones() -> None:
    before = np.array([0, 1, 2, 3], np.float32)
    before.view(np.uint32)[2:] = (0xFFC00123, 0x7F800001)
    after = before.copy()
    after.view(np.uint32)[2:] = 0x7FC00000
    after[1] = 1.5
    sample = Sample("x", "f32", before)
    assert specs.error_of("cast:to=bf16", sample, after.view(np.uint8)).largest == 0.5
    assert specs.error_of("cast:to=bf16,fill=nan", sample, after.view(np.uint8)).largest == math.inf
    after.view(np.uint32)[2] = 0xFFC00123
    assert specs.error_of("cast:to=bf16,fill=nan", sample, after.view(np.uint8)).largest == 0.5
    assert specs.error_of("cast:to=bf16", sample, after.view(np.uint8)).largest == math.inf


# 8-bit floats of benchmarks: the numbers that bytes stand for, and how others become them.


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


# The order-0 ratio is what the formula says, and no codec of exponents alone is beyond it.


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
