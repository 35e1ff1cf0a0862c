"""Chunks of zarr's format 3 as frames; skipped without zarr."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thinwire

VALUES = np.cumsum(np.random.default_rng(1).standard_normal((6, 32, 48)), axis=2).astype("f4")


@pytest.fixture(scope="module")
def zarr() -> Any:
    """numcodecs, of which zarr is made, cannot be imported beside zfpy 1.0.1.post0."""
    with pytest.MonkeyPatch.context() as patch:
        version = importlib.metadata.version
        patch.setattr(importlib.metadata, "version", lambda name: version(name).split(".post")[0])
        found = pytest.importorskip("zarr", "3.0")
    import thinwire.zarr

    found.registry.register_codec("thinwire", thinwire.zarr.ThinwireCodec)
    return found


def stored(zarr: Any, path: Path, values: np.ndarray, spec: str, **more: Any) -> np.ndarray:
    from thinwire.zarr import ThinwireCodec

    zarr.create_array(
        path, data=values, chunks=tuple(min(16, each) for each in values.shape), zarr_format=3,
        serializer=ThinwireCodec(spec, **more), compressors=None,
    )  # fmt: skip
    return np.asarray(zarr.open_array(path, mode="r")[:])


@pytest.mark.parametrize("kind", ["<f4", "<f8", "<f2", ">f4", "<c8", "<i4", "?"])
def test_arrays_come_back(zarr: Any, tmp_path: Path, kind: str) -> None:
    values = (8 * VALUES).astype(kind)
    back = stored(zarr, tmp_path / "a", values, "lossless")
    assert back.shape == values.shape and np.array_equal(back, values)


def test_a_chunk_is_a_frame_and_the_metadata_names_the_spec(zarr: Any, tmp_path: Path) -> None:
    path = tmp_path / "a"
    back = stored(zarr, path, VALUES, "szp:abs=1e-3")
    assert 0 < np.abs(back.astype("f8") - VALUES).max() <= 1e-3
    (codec,) = json.loads((path / "zarr.json").read_text())["codecs"]
    assert codec == {"name": "thinwire", "configuration": {"codec": "szp:abs=0.001"}}
    frame = (path / "c" / "0" / "0" / "0").read_bytes()
    assert thinwire.inspect(frame).spec == "szp:abs=0.001"
    assert thinwire.inspect(frame).shape == (6, 16, 16)


def test_missing_values_come_back(zarr: Any, tmp_path: Path) -> None:
    values = VALUES.copy()
    values[:, 5:20, 7:30] = 9.96921e36
    back = stored(zarr, tmp_path / "a", values, "zfp:rate=16,fill=auto")
    assert np.array_equal(back == values[0, 5, 7], values == values[0, 5, 7])


def test_damage_is_an_error(zarr: Any, tmp_path: Path) -> None:
    path = tmp_path / "a"
    stored(zarr, path, VALUES, "lorenzo")
    chunk = path / "c" / "0" / "0" / "0"
    data = bytearray(chunk.read_bytes())
    data[-1] ^= 1
    chunk.write_bytes(bytes(data))
    with pytest.raises(thinwire.ThinwireError):
        zarr.open_array(path, mode="r")[:]


def test_the_entry_point_names_it(zarr: Any) -> None:
    from thinwire.zarr import ThinwireCodec

    codec = ThinwireCodec("cast:to=fp16", "f32")
    assert ThinwireCodec.from_dict(codec.to_dict()) == codec
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.entry-points."zarr.codecs"]\nthinwire = "thinwire.zarr:ThinwireCodec"' in text
