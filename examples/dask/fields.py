"""Square arrays of floats for the examples, block by block: generated waves, or a file of real
values, laid side by side until it fills the array."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

# The files have maps or slices of so many columns one below the other; None: generated.
FIELDS = {
    "waves": None,
    "ccsm_trefht.f32": 128,
    "ncep_cam_3d.f32": 128,
    "rtm_t150.f32": 224,
    "rtm_t500.f32": 224,
}


@cache
def _table(name: str, folder: str | None) -> np.ndarray:
    columns = FIELDS[name]
    if columns is None:
        at = np.arange(1024) / 512
        wave = np.sin(7 * at[:, None] + 3 * at[None, :] ** 2)
        return (wave + 0.001 * np.sin(900 * at)[None, :]).astype("f4")
    if folder is None:
        raise ValueError(f"{name} is a file: say in which folder by --data")
    values = np.fromfile(Path(folder, name), "<f4")
    return values[: len(values) // columns * columns].reshape(-1, columns)


@dataclass(frozen=True)
class Field:
    name: str
    folder: str | None
    size: int

    @property
    def range(self) -> float:
        table = _table(self.name, self.folder)
        return float(table.max() - table.min())

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Each copy of the table begins a hundred rows further down, so that no two blocks are
        alike."""
        table = _table(self.name, self.folder)
        height, width = table.shape
        column = np.arange(columns.start, columns.stop)
        row = np.arange(rows.start, rows.stop)[:, None] + 100 * (column // width)[None, :]
        return np.ascontiguousarray(table[row % height, (column % width)[None, :]])

    def dask_array(self, chunk: int, kind: str) -> Any:
        """Made on the workers, as arrays of numpy, cupy or torch."""
        import dask.array as da

        def make(block_info: Any = None) -> Any:
            (r0, r1), (c0, c1) = block_info[None]["array-location"]
            return convert(self.block(slice(r0, r1), slice(c0, c1)), kind)

        sizes = (chunk,) * (self.size // chunk)
        return da.map_blocks(make, chunks=(sizes, sizes), dtype="f4", meta=no_array())


def no_array() -> np.ndarray:
    return np.empty((0, 0), "f4")


def convert(block: np.ndarray, kind: str) -> Any:
    if kind == "cupy":
        import cupy

        return cupy.asarray(block)
    return block


def to_numpy(block: Any) -> np.ndarray:
    return block.get() if hasattr(block, "get") else np.asarray(block)
