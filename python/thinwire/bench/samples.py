"""The arrays that benchmarks run on: what one is, and files of them."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from thinwire import array_files, dtypes
from thinwire.bench import float8
from thinwire.message import MAX_RANK

DATA_FOLDER = "THINWIRE_DATA"
_MANTISSA_BITS = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2}


@dataclass(frozen=True)
class Sample:
    """A named array of `dtype` in the shape to code it in (bf16: 16-bit words)."""

    name: str
    dtype: str
    values: np.ndarray

    @property
    def shape_text(self) -> str:
        return shape_text(self.values.shape)

    def in_shape(self, shape: tuple[int, ...]) -> "Sample":
        return replace(self, values=self.values.reshape(shape))


def shape_text(shape: tuple[int, ...]) -> str:
    """As in "24x224x224", slowest first."""
    return "x".join(str(extent) for extent in shape)


def folded(shape: tuple[int, ...], max_rank: int) -> tuple[int, ...]:
    """A shape of at most `max_rank` axes: the slowest ones become one."""
    if len(shape) <= max_rank:
        return shape
    slow = len(shape) - max_rank + 1
    return (math.prod(shape[:slow]), *shape[slow:])


def merged_shapes(shape: tuple[int, ...], max_rank: int) -> list[tuple[int, ...]]:
    """All of at most `max_rank` axes that come of merging neighbouring axes; the line is one."""
    found: set[tuple[int, ...]] = {(math.prod(shape),)}
    for cuts in range(1 << (len(shape) - 1)):
        merged = [shape[0]]
        for axis, extent in enumerate(shape[1:]):
            if cuts >> axis & 1:
                merged.append(extent)
            else:
                merged[-1] *= extent
        if len(merged) <= max_rank:
            found.add(tuple(merged))
    return sorted(found)


def of_size(sample: Sample, nbytes: int) -> Sample:
    """The array cut or repeated along its slowest axis to about `nbytes`, at least one plane, which
    is then no volume."""
    plane = sample.values[0].nbytes
    count = max(1, nbytes // plane)
    values = np.ascontiguousarray(sample.values[np.arange(count) % len(sample.values)])
    return replace(sample, values=values[0] if count == 1 and values.ndim > 1 else values)


def from_float(values: np.ndarray, dtype: str) -> np.ndarray:
    """fp64 values as `dtype`, rounded to nearest (bf16: towards zero, bytes: in steps of 1/40);
    those of 8-bit floats are scaled so that the largest becomes the type's, as programs do."""
    if dtype in float8.LARGEST:
        return float8.scaled(values, dtype)
    if dtype == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype == "bytes":
        return (40 * values).astype(np.int64).astype(np.uint8)
    return values.astype(dtypes.NUMPY[dtype])


def to_float(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values of `dtype` as fp64, exactly."""
    if dtype in float8.LARGEST:
        return float8.numbers(dtype)[values]
    if dtype == "bf16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # a signalling NaN is one value of many
        return values.astype(np.float64)


def read(path: Path, dtype: str | None = None) -> Sample:
    """The values of a file, or of an array in it ("file:name"), as one line. ValueError if it
    cannot be read or has none."""
    return _in_own_shape(path, dtype)[0].in_shape((-1,))


def read_shaped(path: Path, dtype: str | None, shape: tuple[int, ...] | None) -> Sample:
    """The same in the shape that is given, else the file's, else that which is stated beside the
    file; ValueError if a given shape has another count."""
    sample, has_shape = _in_own_shape(path, dtype)
    if shape is None and has_shape:
        extents = tuple(extent for extent in sample.values.shape if extent != 1)
        return sample.in_shape(folded(extents or (1,), MAX_RANK))
    shape = shape or stated_shape(path, sample.dtype) or sample.values.shape
    if math.prod(shape) != sample.values.size:
        count = sample.values.size
        raise ValueError(f"{sample.name}: {count} values do not have the shape {shape_text(shape)}")
    return sample.in_shape(shape)


def _in_own_shape(path: Path, dtype: str | None) -> tuple[Sample, bool]:
    """The values, and whether their shape is that of an array."""
    found = array_files.read(path, dtype)
    if found.array.size == 0:
        raise ValueError(f"{found.name}: 0 bytes are no whole number of {found.dtype} values")
    return Sample(found.name, found.dtype, found.array), found.has_shape


def _is_extent(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 19


def parse_shape(text: str) -> tuple[int, ...]:
    """Extents of "24x224x224", slowest first; ValueError for anything else."""
    words = text.split("x")
    if not 1 <= len(words) <= 4 or not all(_is_extent(word) and int(word) > 0 for word in words):
        raise ValueError(f"'{text}' is no shape: 1 to 4 extents, slowest first, as in 24x224x224")
    return tuple(int(word) for word in words)


def stated_shape(path: Path, dtype: str | None = None) -> tuple[int, ...] | None:
    """The shape of a data file as the table of a README.md beside it states it, in the column
    "shape"; None if it does not, or if the file has another size."""
    readme = path.with_name("README.md")
    rows = readme.read_text(errors="replace").splitlines() if readme.is_file() else []
    table = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row[:1] == "|"]
    heading = next((row for row in table if "shape" in row), None)
    row = next((row for row in table if row[0] == path.name), None)
    if heading is None or row is None:
        return None
    column = heading.index("shape")
    # A row may be short of cells; of words, "4²" has digits that are no number.
    words = row[column].split("x") if column < len(row) else []
    if not words or not all(_is_extent(word) for word in words):
        return None
    shape = tuple(int(word) for word in words if int(word) != 1)
    itemsize = dtypes.NUMPY[dtype or path.suffix.lstrip(".")].itemsize
    return shape if math.prod(shape) * itemsize == path.stat().st_size else None


def data_files() -> list[Path]:
    """The files of the folder that $THINWIRE_DATA names, documents and hidden ones aside."""
    folder = os.environ.get(DATA_FOLDER)
    if not folder:
        return []
    files = (path for path in Path(folder).iterdir() if path.is_file())
    return sorted(path for path in files if path.suffix != ".md" and path.name[0] != ".")


def read_all(
    paths: list[Path],
    skipped: Callable[[str], None],
    dtype: str | None = None,
    shape: tuple[int, ...] | None = None,
) -> list[Sample]:
    """The samples of those files that are any, in their shapes; `skipped` hears of the others."""
    found = []
    for path in paths:
        try:
            found.append(read_shaped(path, dtype, shape))
        except ValueError as error:
            skipped(str(error))
    return found


def order0_ratio(sample: Sample) -> float | None:
    """The ratio of a mask of the exact zeros and the exponents of all other values, each at its
    entropy over the whole array, with their signs and mantissas as they are. None for bytes, and
    if nothing is left to be sent. A codec that looks at more than frequencies can exceed it."""
    mantissa = _MANTISSA_BITS.get(sample.dtype)
    if mantissa is None:
        return None
    words = sample.values.reshape(-1)
    words = words.view(f"u{words.itemsize}")
    kept = words[words != 0]
    exponents = (kept >> mantissa).astype(np.int64) & (
        (1 << (8 * words.itemsize - 1 - mantissa)) - 1
    )
    bits = _entropy_bits(np.array([kept.size, words.size - kept.size]))
    bits += _entropy_bits(np.bincount(exponents)) + kept.size * (1 + mantissa)
    return 8 * words.nbytes / bits if bits else None


def _entropy_bits(counts: np.ndarray) -> float:
    """Of as many symbols as the counts add up to."""
    counts = counts[counts > 0]
    return float(np.sum(counts * (np.log2(counts.sum()) - np.log2(counts))))
