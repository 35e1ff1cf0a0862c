"""Seismic wavefields without a solver: the arrays that GPU figures are compared on."""

from functools import cache

import numpy as np

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
