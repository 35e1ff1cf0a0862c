"""Arrays of simulations and tables: particles, masked fields, meshes, integers, decimals."""

import numpy as np


def particles(seed: int, cells: int, each: int) -> np.ndarray:
    """Positions in cells of a box, three numbers a particle, cell by cell."""
    random = np.random.default_rng(seed)
    corners = np.indices((cells,) * 3).reshape(3, -1).T[:, None, :]
    inside = random.random((cells**3, each, 3))
    return (corners + inside).reshape(-1) / cells * 40.0


def forces(seed: int, count: int, share: float) -> np.ndarray:
    """Three numbers a particle; those of particles without neighbours are zero."""
    random = np.random.default_rng(seed)
    values = random.random((count, 3)) - 0.5
    values = values / (random.random((count, 1)) + 0.01) ** 2
    values[random.random(count) < share] = 0
    return values.reshape(-1)


def _surface(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A smooth surface: noise, summed over squares of several sizes."""
    out = np.zeros((rows, columns))
    for size in (4, 16, 64):
        coarse = random.random((rows // size + 2, columns // size + 2)) - 0.5
        y, x = np.arange(rows) / size, np.arange(columns) / size
        row, column = y.astype(int), x.astype(int)
        v, u = (y - row)[:, None], (x - column)[None, :]
        corner = coarse[np.ix_(row, column)], coarse[np.ix_(row, column + 1)]
        below = coarse[np.ix_(row + 1, column)], coarse[np.ix_(row + 1, column + 1)]
        out += size * (
            (1 - v) * ((1 - u) * corner[0] + u * corner[1])
            + v * ((1 - u) * below[0] + u * below[1])
        )
    return out


def masked(seed: int, rows: int, columns: int, fill: float) -> np.ndarray:
    """An ocean: land has the fill value, the rest is smooth with a little noise."""
    random = np.random.default_rng(seed)
    land = _surface(random, rows, columns) > 6
    values = 288 + _surface(random, rows, columns) / 8 + random.random((rows, columns)) * 0.05
    return np.where(land, fill, values)


def mesh(seed: int, rows: int, columns: int) -> np.ndarray:
    """Coordinates (x, y, z) of a jittered mesh, whose nodes are numbered patch by patch."""
    random = np.random.default_rng(seed)
    y, x = np.indices((rows, columns), dtype=np.float64)
    points = np.stack(
        [
            x + 0.3 * (random.random(x.shape) - 0.5),
            y + 0.3 * (random.random(x.shape) - 0.5),
            _surface(random, rows, columns),
        ],
        axis=2,
    )
    tiles = points.reshape(rows // 8, 8, columns // 8, 8, 3).swapaxes(1, 2).reshape(-1, 64, 3)
    order = np.argsort(random.random((tiles.shape[0], 64)), axis=1)
    return np.take_along_axis(tiles, order[:, :, None], axis=1).reshape(-1)


def on_mesh(seed: int, rows: int, columns: int) -> np.ndarray:
    """A field at such a mesh's nodes."""
    points = mesh(seed, rows, columns).reshape(-1, 3)
    return points[:, 0] * 0.01 + points[:, 1] * 0.02 + points[:, 2] ** 2


def counts(seed: int, count: int) -> np.ndarray:
    """Small whole numbers, many of them 0: geometric, by comparisons."""
    random = np.random.default_rng(seed)
    levels = (random.random((count, 12)) < 0.55).cumprod(axis=1)
    return levels.sum(axis=1).astype(np.float64)


def indices(seed: int, count: int) -> np.ndarray:
    """Whole numbers that ascend by small steps."""
    random = np.random.default_rng(seed)
    return np.cumsum(random.integers(0, 9, count)).astype(np.float64)


def decimals(seed: int, count: int, digits: int, most: int) -> np.ndarray:
    """A walk of numbers with so many digits behind the point."""
    random = np.random.default_rng(seed)
    walk = np.cumsum(random.integers(-40, 41, count)) % most
    return walk / float(10**digits)
