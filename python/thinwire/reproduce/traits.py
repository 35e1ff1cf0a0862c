"""Traits of stand-ins beside those that are published of the real sets; files of stand-ins."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thinwire import compress
from thinwire.reproduce.stand_ins import DTYPES, STAND_INS, generate


@dataclass
class Traits:
    """Of one stand-in in one type: percent of unique values, entropy of the values in bits, what
    mpc divides its bytes by, and the share of them that ndzip leaves; each of the real set, too, if
    it is published."""

    set: str
    dtype: str
    values: int
    unique: float
    published_unique: float | None
    entropy: float
    mpc: float
    published_mpc: float | None
    ndzip_leaves: float
    published_ndzip_leaves: float | None


def traits_of(name: str, dtype: str) -> Traits:
    values, real = generate(name, dtype), STAND_INS[name]
    counts = np.unique(values.view(f"u{values.itemsize}"), return_counts=True)[1]
    share = counts / values.size
    return Traits(
        name,
        dtype,
        values.size,
        round(100 * counts.size / values.size, 2),
        real.unique if dtype == "f32" else None,
        round(float(-(share * np.log2(share)).sum()), 2),
        _ratio(values, "mpc"),
        real.mpc if dtype == "f32" else None,
        round(1 / _ratio(values, "ndzip"), 2),
        real.ndzip if dtype == "f64" else None,
    )


def _ratio(values: np.ndarray, codec: str) -> float:
    return round(values.nbytes / len(compress(values, codec)), 3)


def all_traits() -> list[Traits]:
    return [traits_of(name, dtype) for name in STAND_INS for dtype in DTYPES]


def write_file(name: str, folder: Path) -> Path:
    """Writes "msg_sppm.f32" and the like into a folder; its bytes are always the same."""
    path = folder / name
    stem, _, dtype = name.partition(".")
    if stem not in STAND_INS or dtype not in DTYPES:
        raise ValueError(f"there is no stand-in {name!r}: {', '.join(STAND_INS)}, .f32 or .f64")
    path.write_bytes(generate(stem, dtype).tobytes())
    return path
