"""The arrays that benchmarks run on: generated ones and files of raw values."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thinwire import dtypes

DATA_FOLDER = "THINWIRE_DATA"


@dataclass(frozen=True)
class Sample:
    """A named array of `dtype` in the shape to code it in (bf16: 16-bit words)."""

    name: str
    dtype: str
    values: np.ndarray


def smooth(count: int) -> np.ndarray:
    """Two incommensurate waves, as fp64."""
    at = np.arange(count, dtype=np.float64)
    return np.sin(0.01 * at) + 0.3 * np.sin(0.00137 * at)


def random(count: int) -> np.ndarray:
    """Normally distributed, always the same, as fp64."""
    return np.random.default_rng(1).standard_normal(count)


GENERATORS: dict[str, Callable[[int], np.ndarray]] = {"smooth": smooth, "random": random}


def generate(name: str, dtype: str, nbytes: int) -> Sample:
    """`nbytes` bytes (rounded down to whole values, at least one) of a generator."""
    count = max(1, nbytes // dtypes.NUMPY[dtype].itemsize)
    return Sample(name, dtype, from_float(GENERATORS[name](count), dtype))


def from_float(values: np.ndarray, dtype: str) -> np.ndarray:
    """fp64 values as `dtype`, rounded to nearest (bf16: towards zero, bytes: in steps of 1/40)."""
    if dtype == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype == "bytes":
        return (40 * values).astype(np.int64).astype(np.uint8)
    return values.astype(dtypes.NUMPY[dtype])


def to_float(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values of `dtype` as fp64, exactly."""
    if dtype == "bf16":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def read(path: Path) -> Sample:
    """A file of raw little-endian values whose suffix is their dtype; ValueError otherwise."""
    dtype = path.suffix.lstrip(".")
    if dtype not in dtypes.CODES:
        raise ValueError(f"{path.name}: the suffix is no dtype ({', '.join(dtypes.CODES)})")
    size = path.stat().st_size
    if size == 0 or size % dtypes.NUMPY[dtype].itemsize:
        raise ValueError(f"{path.name}: {size} bytes are no whole number of {dtype} values")
    return Sample(path.name, dtype, np.fromfile(path, dtypes.NUMPY[dtype]))


def stated_shape(path: Path) -> tuple[int, ...] | None:
    """The shape of a data file as the table of a README.md beside it states it, in the column
    "shape"; None where it does not, or where the file has another size."""
    readme = path.with_name("README.md")
    rows = readme.read_text().splitlines() if readme.exists() else []
    table = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row[:1] == "|"]
    heading = next((row for row in table if "shape" in row), None)
    row = next((row for row in table if row[0] == path.name), None)
    if heading is None or row is None:
        return None
    words = row[heading.index("shape")].split("x")
    if not all(word.isdigit() for word in words):
        return None
    shape = tuple(int(word) for word in words if int(word) != 1)
    itemsize = dtypes.NUMPY[path.suffix.lstrip(".")].itemsize
    return shape if math.prod(shape) * itemsize == path.stat().st_size else None


def data_files() -> list[Path]:
    """The files of the folder that $THINWIRE_DATA names, documents and hidden ones aside."""
    folder = os.environ.get(DATA_FOLDER)
    if not folder:
        return []
    files = (path for path in Path(folder).iterdir() if path.is_file())
    return sorted(path for path in files if path.suffix != ".md" and path.name[0] != ".")


def read_all(paths: list[Path], skipped: Callable[[str], None]) -> list[Sample]:
    """The samples of those files that are any; `skipped` hears of the others by name."""
    found = []
    for path in paths:
        try:
            found.append(read(path))
        except ValueError as error:
            skipped(str(error))
    return found
