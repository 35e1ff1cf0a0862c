"""The arrays that are generated for measurements: recipes with fixed seeds.

`smooth` aside, these are the inputs that the rivals were measured on, so that rows of ours and of
theirs lie side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from thinwire import dtypes
from thinwire.bench import wavefield
from thinwire.bench.samples import Sample, from_float

WAVE = "wave"


def smooth(count: int, _: str) -> np.ndarray:
    """Two incommensurate waves."""
    at = np.arange(count, dtype=np.float64)
    return np.sin(0.01 * at) + 0.3 * np.sin(0.00137 * at)


def wave(count: int, _: str) -> np.ndarray:
    """A slab of the wavefield, noise and all."""
    return wavefield.wavefield(wavefield.planes_in(count))


def wave_zeros(count: int, _: str) -> np.ndarray:
    """A slab of the wavefield at an early time, much of it exactly zero."""
    return wavefield.early_wavefield(wavefield.planes_in(count))


def turbulence(count: int, _: str) -> np.ndarray:
    """A slab of a periodic cube of turbulence."""
    return _turbulent_cube()[wavefield.middle(wavefield.planes_in(count))]


@cache
def _turbulent_cube() -> np.ndarray:
    """Amplitudes k^(-11/6) exp(-k/60), k in waves per edge; random phases; variance 1."""
    noise = np.random.default_rng(7).standard_normal((wavefield.EDGE,) * 3)
    waves = np.fft.fftfreq(wavefield.EDGE, 1 / wavefield.EDGE)
    halved = np.fft.rfftfreq(wavefield.EDGE, 1 / wavefield.EDGE)
    k = np.sqrt(waves[:, None, None] ** 2 + waves[:, None] ** 2 + halved**2)
    k[0, 0, 0] = np.inf  # no mean
    spectrum = np.fft.rfftn(noise) * (k ** (-11 / 6) * np.exp(-k / 60))
    field = np.fft.irfftn(spectrum, noise.shape, axes=(0, 1, 2))
    return field / field.std()


def gradients(count: int, dtype: str) -> np.ndarray:
    """Student t with 4 degrees of freedom, under a log-normal scale (median 1e-3, sigma 0.8) per
    65,536 values; another draw for each dtype."""
    random = np.random.default_rng((11, dtypes.CODES[dtype]))
    scales = 1e-3 * np.exp(0.8 * random.standard_normal(-(-count // 65536)))
    chi_squared = -2 * np.log1p(-random.random((2, count))).sum(axis=0)  # of 4 degrees
    student = random.standard_normal(count) * np.sqrt(4 / chi_squared)
    return student * np.repeat(scales, 65536)[:count]


def repetitive(count: int, _: str) -> np.ndarray:
    """Runs of a value (geometric lengths, mean 24) out of 4,096, 1 of 16 a ramp instead."""
    random = np.random.default_rng(13)
    palette = 1 + random.random(4096)
    lengths = random.geometric(1 / 24, -(-count // 12) + 64)
    lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), count)) + 1]
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    slopes = np.where(random.random(lengths.size) < 1 / 16, 1e-3, 0.0)
    within = np.arange(lengths.sum()) - starts
    values = np.repeat(palette[random.integers(0, 4096, lengths.size)], lengths)
    return (values + within * np.repeat(slopes, lengths))[:count]


@dataclass(frozen=True)
class Generator:
    """A recipe for at most so many values (a cube ends) and the dtypes that it is measured in
    unless one is asked for; None for bits of no dtype."""

    values: Callable[[int, str], np.ndarray] | None
    dtypes: tuple[str, ...]


GENERATORS = {
    WAVE: Generator(wave, ("f32", "f64")),
    "wave-zeros": Generator(wave_zeros, ("f32",)),
    "turb": Generator(turbulence, ("f32",)),
    "gradients": Generator(gradients, ("f32", "bf16")),
    "repetitive": Generator(repetitive, ("f32",)),
    "random": Generator(None, ("f32",)),
    "smooth": Generator(smooth, ()),
}


def generate(name: str, dtype: str, nbytes: int) -> Sample:
    """`nbytes` bytes of a recipe, rounded down to whole values or planes, at least one; cubes have
    no more than their 256 planes, and one plane is a plane: a codec of volumes would fill it up to
    a block's depth."""
    count = max(1, nbytes // dtypes.NUMPY[dtype].itemsize)
    recipe = GENERATORS[name].values
    if recipe is None:
        bits = np.random.default_rng(3).bytes(count * dtypes.NUMPY[dtype].itemsize)
        return Sample(name, dtype, np.frombuffer(bits, dtypes.NUMPY[dtype]))
    values = from_float(recipe(count, dtype), dtype)
    return Sample(name, dtype, values[0] if values.ndim > 1 and len(values) == 1 else values)


def inputs(dtype: str | None) -> list[tuple[str, str]]:
    """Names and dtypes of what is measured: those of the rivals, or every recipe in one dtype."""
    return [
        (name, each)
        for name, generator in GENERATORS.items()
        if generator.dtypes
        for each in ([dtype] if dtype else generator.dtypes)
    ]
