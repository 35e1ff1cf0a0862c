"""The recipes of generated arrays, and what error and shape mean for a codec under test."""

import math

import numpy as np
import pytest

from thinwire.bench import generators, samples, specs, wavefield
from thinwire.bench.samples import Sample
from thinwire.codec import codecs


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
    field = wavefield.wavefield()
    assert field.shape == (256, 256, 256) and math.isclose(np.abs(field).max(), 1, rel_tol=1e-5)
    assert np.array_equal(wavefield.wavefield(3), field[126:129])
    assert np.abs(wavefield.early_wavefield()).max() == pytest.approx(1, rel=1e-6)
    counts = (1, 3 * 65536, 1 << 30)
    assert [wavefield.planes_in(count) for count in counts] == [1, 3, 256]
    # Smooth but for the noise: neighbours differ little.
    assert np.median(np.abs(np.diff(field, axis=2))) < 0.01
    early = wavefield.early_wavefield()
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
