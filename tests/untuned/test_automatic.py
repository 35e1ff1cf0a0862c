"""`lossless` chooses what makes nearly the least of each array that nobody made it for: the half
that is worked on, and the shared files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from thinwire import Codec, compress, dtypes
from thinwire.bench import specs

sys.path.insert(0, str(Path(__file__).parent))
import halves  # noqa: E402

SHARED = Path(os.environ.get("THINWIRE_DATA", "/nowhere"))
SHAPES = {
    "ccsm_trefht.f32": [(110, 64, 128), (128, 64, 110)],
    "mpas_mesh.f64": [(2, 163842)],
    "ncep_cam_3d.f32": [(3, 17, 64, 128)],
    "nyx_32.f32": [(6, 32, 32, 32)],
    "ocean.f32": [(512, 512)],
    "rtm_t150.f32": [(12, 224, 224), (224, 224, 12)],
    "rtm_t500.f32": [(12, 224, 224), (224, 224, 12)],
}
LEAST_SHARE = 0.98
SLOW = ("ans",)  # which `lossless` takes only where it makes much less than the others


def arrays(folder: Path) -> Iterator[tuple[str, str, np.ndarray]]:
    for path in [*halves.write(halves.WORKED_ON, folder), *sorted(SHARED.glob("*.*"))]:
        dtype = path.suffix[1:]
        if dtype in dtypes.NUMPY:
            values = np.fromfile(path, dtypes.NUMPY[dtype])
            for shape in [values.shape, *SHAPES.get(path.name, [])]:
                yield path.name, dtype, values.reshape(shape)


def candidates(dtype: str) -> list[str]:
    found = [Codec(spec) for spec in specs.default_specs(on_gpu=False)]
    rows = [(codec.spec, specs.row_of(codec)) for codec in found if not specs.is_policy(codec)]
    rows = [(spec, row) for spec, row in rows if row.name not in SLOW]
    return [spec for spec, row in rows if row.lossless and dtype in row.dtypes]


@pytest.mark.slow
def test_the_choice_is_nearly_the_best(tmp_path: Path) -> None:
    behind = []
    for name, dtype, values in arrays(tmp_path):
        sizes = {
            len(compress(values, spec, dtype=dtype, shape=shape))
            for spec in candidates(dtype)
            for shape in {values.shape, (values.size,)}
        }
        chosen = len(compress(values, "lossless", dtype=dtype))
        if min(sizes) / chosen < LEAST_SHARE:
            behind.append((name, values.shape, min(sizes), chosen))
    assert not behind
