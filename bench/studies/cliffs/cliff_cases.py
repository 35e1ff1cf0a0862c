"""Which cases of the registry are measured, and the arrays that they are measured on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thinwire.bench import specs
from thinwire.bench.samples import from_float, shape_text
from thinwire.codec import Codec, CodecInfo, codecs
from thinwire.dtypes import NUMPY
from thinwire.library import ThinwireError

# From the widest to the narrowest; the 16-bit ones are as wide as each other.
TYPES = ("f64", "f32", "bf16", "f16")
POINTS = (1, 2, 3, 4)  # values of a point
RANKS = (1, 2, 3)
_POINT_OPTION = re.compile(r"\b(tuple|stride)=")

# Rows and columns: whole boxes of every codec, and whole points along the fastest axis.
ROWS, COLUMNS = 128, 192
BOX_PLANES = 16
NOISE = 1e-4


@dataclass(frozen=True, order=True)
class Case:
    """A codec with its other settings, a type, the values of a point (1 also if the codec knows no
    points), and the rank of the array."""

    codec: str
    dtype: str
    point: int
    rank: int

    @property
    def data_name(self) -> str:
        return f"points-of-{self.point}.{self.dtype}"


@dataclass(frozen=True)
class Request:
    """A case, its spec and its shape, as a line for codec_gpu."""

    case: Case
    spec: str
    shape: tuple[int, ...]

    @property
    def line(self) -> str:
        case = self.case
        return "\t".join(
            ("codec", self.spec, case.dtype, shape_text(self.shape), case.data_name, "1")
        )


def point_option(info: CodecInfo) -> str:
    """The option that says how many values a point has; "" if the codec has none."""
    found = _POINT_OPTION.search(info.options)
    return found[1] if found else ""


def is_spec(spec: str) -> bool:
    try:
        Codec(spec)
    except ThinwireError:
        return False
    return True


def settings_of(info: CodecInfo) -> list[tuple[str, int, str]]:
    """A codec's settings as (name without points, values of a point, spec)."""
    option = point_option(info)
    if option:
        named = [(point, f"{info.name}:{option}={point}") for point in POINTS]
        return [(info.name, point, Codec(spec).spec) for point, spec in named if is_spec(spec)]
    others = (f"{info.name}:{options}" for options in specs.EXTRAS.get(info.name, ()))
    normal = dict.fromkeys(Codec(spec).spec for spec in (info.example, *others))
    return [(spec, 1, spec) for spec in normal]


def shape_of(dtype: str, rank: int, nbytes: int) -> tuple[int, ...]:
    """About so many bytes in whole boxes; the ranks are the same values."""
    layer = BOX_PLANES * ROWS * COLUMNS * NUMPY[dtype].itemsize
    planes = BOX_PLANES * max(1, round(nbytes / layer))
    shapes = ((planes * ROWS * COLUMNS,), (planes * ROWS, COLUMNS), (planes, ROWS, COLUMNS))
    return shapes[rank - 1]


def ranks_of(info: CodecInfo) -> tuple[int, ...]:
    """Ranks that make a difference to the codec."""
    is_line = info.flat or info.name == "raw"
    return (1,) if is_line else tuple(rank for rank in RANKS if rank <= info.max_rank)


def requests(nbytes: int) -> Iterator[Request]:
    """All that the registry has for arrays on a GPU of this machine's libraries."""
    for info in codecs():
        if specs.why_not_here(info, on_gpu=True):
            continue
        for name, point, spec in settings_of(info):
            for dtype in (each for each in TYPES if each in info.dtypes and _takes(spec, each)):
                for rank in ranks_of(info):
                    shape = shape_of(dtype, rank, nbytes)
                    yield Request(Case(name, dtype, point, rank), spec, shape)


def _takes(spec: str, dtype: str) -> bool:
    return bool(Codec(spec).ids_for(dtype)) or spec == "raw"


def field(point: int) -> np.ndarray:
    """Sixteen planes that continue at their end: smooth waves, another one for each value of a
    point, and noise."""
    z, y, x = np.meshgrid(
        np.arange(BOX_PLANES) / BOX_PLANES,
        np.arange(ROWS) / ROWS,
        np.arange(COLUMNS // point) * point / COLUMNS,
        indexing="ij",
    )
    random = np.random.default_rng(point)
    parts = []
    for number in range(point):
        wave = np.sin(2 * np.pi * (z + 2 * y + 3 * x + 0.21 * number))
        wave += 0.5 * np.cos(2 * np.pi * (y * (3 + number) - 5 * x))
        parts.append((10.0**-number) * (1.5 + wave + NOISE * random.standard_normal(wave.shape)))
    return np.stack(parts, axis=-1).reshape(BOX_PLANES, ROWS, COLUMNS)


def write_data(folder: Path, wanted: list[Request]) -> None:
    """The files that the requests name."""
    for point in POINTS:
        cases = {each.case for each in wanted if each.case.point == point}
        for dtype in sorted({case.dtype for case in cases}):
            path = folder / Case("", dtype, point, 1).data_name
            from_float(field(point), dtype).tofile(path)
