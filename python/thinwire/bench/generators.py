"""The arrays that are generated for measurements: recipes with fixed seeds.

`smooth` aside, these are the inputs that the rivals were measured on, so that rows of ours and of
theirs lie side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from thinwire import dtypes
from thinwire.bench.samples import Sample, from_float

WAVE = "wave"

# Seismic wavefields without a solver: the cubes that GPU figures are compared on.
EDGE = 256
SEED = 5
SOURCES = 6
_WAVELENGTH = 0.05  # of the cube's edge, about 13 points
_NOISE = 1e-6
# How far the fronts of the early field have come, against the late one's, and what of it is zero.
_EARLY = 0.404
_SILENCE = 1e-9
# Peaks of the whole cubes before they are scaled, so that a slab need not know the rest.
_LATE_PEAK, _EARLY_PEAK = 0.36137225065613165, 0.48620621860027313


def smooth(count: int, _: str) -> np.ndarray:
    """Two incommensurate waves."""
    at = np.arange(count, dtype=np.float64)
    return np.sin(0.01 * at) + 0.3 * np.sin(0.00137 * at)


def wave(count: int, _: str) -> np.ndarray:
    """A slab of the wavefield, noise and all."""
    return wavefield(planes_in(count))


def wave_zeros(count: int, _: str) -> np.ndarray:
    """A slab of the wavefield at an early time, much of it exactly zero."""
    return early_wavefield(planes_in(count))


def turbulence(count: int, _: str) -> np.ndarray:
    """A slab of a periodic cube of turbulence."""
    return _turbulent_cube()[middle(planes_in(count))]


@cache
def _turbulent_cube() -> np.ndarray:
    """Amplitudes k^(-11/6) exp(-k/60), k in waves per edge; random phases; variance 1."""
    noise = np.random.default_rng(7).standard_normal((EDGE,) * 3)
    waves = np.fft.fftfreq(EDGE, 1 / EDGE)
    halved = np.fft.rfftfreq(EDGE, 1 / EDGE)
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


@cache
def wavefield(planes: int = EDGE) -> np.ndarray:
    """A centred slab of 256 x 256 x 256 values in fp64: expanding Ricker fronts of six sources and
    of their images above the surface, falling off with distance, a weak coda after them, peak 1,
    Gaussian noise of 1e-6. Always the same."""
    random = np.random.default_rng(SEED)
    kept = middle(planes)
    field = _fronts(random, 1, kept)
    return field / _LATE_PEAK + _NOISE * random.standard_normal((EDGE,) * 3)[kept]


@cache
def early_wavefield(planes: int = EDGE) -> np.ndarray:
    """The same sources at an early time and without noise: what the fronts have not reached,
    63 % of the cube, is exactly zero."""
    field = _fronts(np.random.default_rng(SEED), _EARLY, middle(planes)) / _EARLY_PEAK
    field[np.abs(field) < _SILENCE] = 0
    return field


def middle(planes: int) -> slice:
    """Which planes a centred slab has."""
    first = (EDGE - planes) // 2
    return slice(first, first + planes)


def planes_in(count: int) -> int:
    """How many planes `count` values fill, at least one and at most all."""
    return min(EDGE, max(1, count // (EDGE * EDGE)))


def _fronts(random: np.random.Generator, travelled: float, planes: slice) -> np.ndarray:
    """All fronts, each as far as `travelled` times its full radius, in these planes."""
    places = random.uniform(0.1, 0.9, (SOURCES, 3)).astype(np.float32)
    images = places * np.array([-1, 1, 1], np.float32)
    radii = random.uniform(0.25, 0.8, SOURCES).astype(np.float32) * np.float32(travelled)
    # fp32 is fine for the fronts and half the time; the noise fills the bits below.
    axis = ((np.arange(EDGE) + 0.5) / EDGE).astype(np.float32)
    field = np.zeros((planes.stop - planes.start, EDGE, EDGE))
    for plane, depth in zip(field, axis[planes], strict=True):
        for sign, centres in ((1, places), (-1, images)):
            for centre, radius in zip(centres, radii, strict=True):
                plane += sign * _front(axis, depth, centre, radius)
    return field


def _front(axis: np.ndarray, depth: float, centre: np.ndarray, radius: float) -> np.ndarray:
    """One plane of one front."""
    across = (axis - centre[1])[:, None] ** 2 + (axis - centre[2]) ** 2
    distance = np.sqrt(across + (depth - centre[0]) ** 2)
    behind = radius - distance
    argument = (np.pi * behind / _WAVELENGTH) ** 2
    ricker = (1 - 2 * argument) * np.exp(-argument)
    coda = 0.02 * np.sin(40 * behind) * np.exp(-4 * np.abs(behind)) * (behind > 0)
    return (ricker + coda) / (1 + 20 * distance)
