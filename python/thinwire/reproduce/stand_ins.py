"""Stand-ins for data sets that cannot be had freely: generated values with a few traits of theirs.

None is the set that it is named after: each is computed by a small program of the same kind, and
has about the published share of unique values. Ratios of real sets do not follow from it.

Only additions, products, quotients and square roots are taken, whose results are the same on every
processor, and whole numbers of NumPy's PCG64.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

COUNT = 1 << 19  # values of a set, about
SEED = 2021


def hydrodynamics(steps: int = 36, edge: int = 362) -> np.ndarray:
    """Density, momenta and energy of a gas at rest in which a disc of high pressure begins to
    expand: what its waves have not reached is uniform."""
    at = np.arange(edge, dtype=np.float64)
    disc = (at[:, None] - 0.41 * edge) ** 2 + (at - 0.57 * edge) ** 2 < (0.13 * edge) ** 2
    state = np.zeros((4, edge, edge))
    state[0] = np.where(disc, 1.4, 1.0)
    state[3] = np.where(disc, 25.0, 2.5)
    for _ in range(steps):
        state = state - 0.12 * (_divergence(state, 1) + _divergence(state, 2))
    return state


def _divergence(state: np.ndarray, axis: int) -> np.ndarray:
    """Differences of Rusanov's fluxes along an axis; the edges stay as they are."""
    density, along, energy = state[0], state[axis], state[3]
    kinetic = 0.5 * (state[1] * state[1] + state[2] * state[2]) / density
    pressure = 0.4 * (energy - kinetic)
    speed = along / density
    flux = state * speed
    flux[axis] += pressure
    flux[3] += pressure * speed
    fastest = np.abs(speed) + np.sqrt(1.4 * pressure / density)
    first, second = _pairs(flux, axis)
    low, high = _pairs(state, axis)
    slower, faster = _pairs(fastest, axis - 1)
    between = 0.5 * (first + second) - 0.5 * np.maximum(slower, faster) * (high - low)
    found = np.zeros_like(state)
    inner = [slice(None)] * 3
    inner[axis] = slice(1, -1)
    found[tuple(inner)] = np.diff(between, axis=axis)
    return found


def _pairs(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper neighbour of every boundary along an axis."""
    line = np.moveaxis(values, axis, 0)
    return np.moveaxis(line[:-1], 0, axis), np.moveaxis(line[1:], 0, axis)


def transport(edge: int = 32, depth: int = 64) -> np.ndarray:
    """Angular fluxes of eight directions in a box with a source, swept from a corner by diamond
    differences; negative fluxes are set to zero, as such programs do."""
    cosine = (np.arange(8) + 0.5) / 8
    mu, eta, xi = cosine, cosine[[3, 6, 1, 4, 7, 2, 5, 0]], cosine[::-1]
    cells = np.indices((edge, edge, depth)).reshape(3, -1)
    inside = np.all(cells >= np.array([[0], [0], [1]]), axis=0)
    texture = np.random.default_rng(SEED).integers(900_000, 1_100_000, cells.shape[1]) / 1e6
    source = np.where(inside, texture, 0.0)
    faces = [np.zeros((*shape, 8)) for shape in ((edge, depth), (edge, depth), (edge, edge))]
    found = np.zeros((cells.shape[1], 8))
    fronts = cells.sum(axis=0)
    for front in range(int(fronts.max()) + 1):
        which = np.flatnonzero(fronts == front)
        i, j, k = cells[:, which]
        x, y, z = faces[0][j, k], faces[1][i, k], faces[2][i, j]
        centre = source[which, None] + 2 * (mu * x + eta * y + xi * z)
        centre = centre / (1.7 + 2 * (mu + eta + xi))
        faces[0][j, k] = np.maximum(2 * centre - x, 0)
        faces[1][i, k] = np.maximum(2 * centre - y, 0)
        faces[2][i, j] = np.maximum(2 * centre - z, 0)
        found[which] = centre
    return found


def photometry() -> np.ndarray:
    """Exposures of a star that a planet crosses: whole counts of a detector times its gain."""
    random = np.random.default_rng(SEED)
    noise = random.integers(0, 9_000, (COUNT, 6)) @ np.ones(6, dtype=np.int64)
    phase = np.arange(COUNT) % (COUNT // 8)
    dip = np.where((phase > COUNT // 40) & (phase < COUNT // 20), 4_000, 0)
    return (1_000_000 + noise - dip) * 0.0371


def particles() -> np.ndarray:
    """Temperatures that particles of a pinched plasma have of their cells, in an order that was
    the cells' once and has mixed since."""
    random = np.random.default_rng(SEED)
    cells = COUNT * 3 // 1000
    moved = random.integers(0, COUNT // 24, (COUNT, 2)) @ np.array([1, -1])
    home = np.clip(np.arange(COUNT) + moved, 0, COUNT - 1) * cells // COUNT
    radius = np.arange(cells) / (0.3 * cells)
    return (5_000 / (1 + radius * radius))[home]


@dataclass(frozen=True)
class StandIn:
    """A recipe, and what is published of the set that it stands for: percent of unique values, the
    ratio of MPC in fp32, and what ndzip leaves of it in fp64; None if there is none."""

    values: Callable[[], np.ndarray]
    unique: float | None
    mpc: float | None
    ndzip: float | None


STAND_INS = {
    "msg_sppm": StandIn(hydrodynamics, 10.2, 8.951, 0.39),
    "msg_sweep3d": StandIn(transport, 89.8, 1.537, 0.83),
    "num_plasma": StandIn(particles, 0.3, 1.348, 0.91),
    "obs_spitzer": StandIn(photometry, None, None, 1.01),
}
DTYPES = {"f32": np.float32, "f64": np.float64}


def generate(name: str, dtype: str) -> np.ndarray:
    """A line of values of "f32" or "f64", always the same."""
    return STAND_INS[name].values().reshape(-1).astype(DTYPES[dtype])
