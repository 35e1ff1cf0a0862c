"""The arrays that GPU codecs are measured on, as files for the compiled program."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thinwire import dtypes
from thinwire.bench import samples, wavefield
from thinwire.bench.samples import Sample

# The sizes of the table of rivals, and the size that files are repeated to.
SIZES = "256KiB,1MiB,4MiB,16MiB,64MiB,256MiB"
TILED_BYTES = 64 << 20
WAVE = "wave"


@dataclass(frozen=True)
class GpuInput:
    """An array of `shape`, filled with the values of `period` over and over; `path` has those."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    period: np.ndarray
    path: Path

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.period.itemsize

    def as_line(self) -> "GpuInput":
        """The same values in one dimension."""
        line = (math.prod(self.shape),)
        return GpuInput(self.name, self.dtype, line, self.period.reshape(-1), self.path)


def tile(sample: Sample, nbytes: int, folder: Path) -> GpuInput:
    """A sample repeated along its slowest axis, as often as fits `nbytes`, at least once."""
    path = folder / f"{sample.name}.{sample.values.nbytes}.{sample.dtype}"
    if not path.exists():
        sample.values.tofile(path)
    times = max(1, nbytes // sample.values.nbytes)
    slowest, *others = sample.values.shape
    # One plane is a plane: a codec of volumes would fill it up to a block's depth.
    shape = (times * slowest, *others) if times * slowest > 1 else tuple(others) or (1,)
    values = sample.values.reshape(shape) if times == 1 else sample.values
    return GpuInput(sample.name, sample.dtype, shape, values, path)


def generated(dtype: str, sizes: list[int], folder: Path) -> Iterator[GpuInput]:
    """The wavefield in every size, and random bits in the largest up to 64 MiB."""
    itemsize = dtypes.NUMPY[dtype].itemsize
    for nbytes in sizes:
        values = samples.from_float(wavefield.slab(nbytes // itemsize), dtype)
        yield tile(Sample(WAVE, dtype, values), nbytes, folder)
    nbytes = max([size for size in sizes if size <= TILED_BYTES], default=min(sizes))
    bits = np.random.default_rng(3).bytes(nbytes // itemsize * itemsize)
    yield tile(Sample("random bits", dtype, np.frombuffer(bits, dtypes.NUMPY[dtype])), 0, folder)


def from_files(found: list[Sample], paths: list[Path], folder: Path) -> Iterator[GpuInput]:
    """Files in the shape that is stated beside them, repeated to about 64 MiB."""
    shapes = {path.name: samples.stated_shape(path) for path in paths}
    for sample in found:
        shape = shapes.get(sample.name) or sample.values.shape
        values = sample.values.reshape(shape)
        yield tile(Sample(sample.name, sample.dtype, values), TILED_BYTES, folder)


def variants(source: GpuInput, max_rank: int) -> list[GpuInput]:
    """The input as one line, and in its own shape where the codec makes use of that."""
    shaped = 1 < len(source.shape) <= max_rank
    return [source.as_line(), source] if shaped else [source.as_line()]
