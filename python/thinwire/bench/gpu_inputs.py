"""The arrays that GPU codecs are measured on, as files for the compiled program."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from thinwire.bench import generators, specs
from thinwire.bench.samples import Sample, shape_text
from thinwire.codec import CodecInfo

# The sizes of the table of rivals, and the size that files are repeated to.
SIZES = "256KiB,1MiB,4MiB,16MiB,64MiB,256MiB"
TILED_BYTES = 64 << 20


@dataclass(frozen=True)
class GpuInput:
    """An array of `shape`, filled with the values of `period` over and over; `path` has those."""

    period: Sample
    shape: tuple[int, ...]
    path: Path

    @property
    def shape_text(self) -> str:
        return shape_text(self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.period.values.itemsize


def tile(sample: Sample, nbytes: int, folder: Path) -> GpuInput:
    """A sample repeated along its slowest axis, as often as fits `nbytes`, at least once."""
    path = folder / f"{sample.name}.{sample.values.nbytes}.{sample.dtype}"
    if not path.exists():
        sample.values.tofile(path)
    times = max(1, nbytes // sample.values.nbytes)
    slowest, *others = sample.values.shape
    return GpuInput(sample, (times * slowest, *others), path)


def generated(dtype: str | None, sizes: list[int], folder: Path) -> Iterator[GpuInput]:
    """The wavefield in every size, and all other recipes in the largest up to 64 MiB."""
    large = max([size for size in sizes if size <= TILED_BYTES], default=min(sizes))
    for index, (name, each) in enumerate(generators.inputs(dtype)):
        for nbytes in sizes if index == 0 else [large]:
            yield tile(generators.generate(name, each, nbytes), nbytes, folder)


def from_files(found: list[Sample], folder: Path) -> Iterator[GpuInput]:
    """Files repeated to about 64 MiB."""
    for sample in found:
        yield tile(sample, TILED_BYTES, folder)


def variants(source: GpuInput, info: CodecInfo) -> list[GpuInput]:
    """The input in each shape that makes a difference to the codec."""
    times = source.nbytes // source.period.values.nbytes
    found = []
    for sample in specs.variants(source.period, info):
        slowest, *others = sample.values.shape
        found.append(GpuInput(sample, (times * slowest, *others), source.path))
    return found
