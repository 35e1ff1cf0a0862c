"""The codec for numcodecs and zarr: chunks to frames and back, in either order of memory."""

import importlib.metadata
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thinwire

VALUES = np.cumsum(np.random.default_rng(1).standard_normal((6, 32, 48)), axis=2).astype("f4")


@pytest.fixture(scope="module")
def made() -> Callable[..., Any]:
    """Thinwire's codec. numcodecs cannot be imported beside zfpy 1.0.1.post0, as it takes a version
    for numbers alone."""
    with pytest.MonkeyPatch.context() as patch:
        version = importlib.metadata.version
        patch.setattr(importlib.metadata, "version", lambda name: version(name).split(".post")[0])
        pytest.importorskip("numcodecs")
    from thinwire.numcodecs import Thinwire

    return Thinwire


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f4", "<f8", "<f2", ">f4", "<c8", ">c16", "<i4", "M8[s]", "?"])
def test_a_chunk_comes_back_in_its_order(made: Any, kind: str, order: Any) -> None:
    chunk = np.asarray((8 * VALUES).astype(kind), order=order)
    for codec in (made("lossless"), made()):
        frame = codec.encode(chunk)
        flat = codec.decode(frame)
        back = flat.view(kind).reshape(chunk.shape, order=order)
        assert flat.ndim == 1 and back.tobytes() == chunk.tobytes()
        out = np.empty_like(chunk)
        assert codec.decode(frame, out=out) is out and out.tobytes() == chunk.tobytes()


def test_a_chunk_is_coded_in_its_shape(made: Any) -> None:
    frame = made("lorenzo").encode(VALUES)
    assert frame == thinwire.compress(VALUES, "lorenzo") and len(frame) < 0.9 * VALUES.nbytes
    assert thinwire.inspect(made("lorenzo").encode(np.asfortranarray(VALUES))).shape == (48, 32, 6)
    assert thinwire.inspect(made("mpc").encode(VALUES + 1j * VALUES)).shape == (6, 32, 96)


@pytest.mark.parametrize("shape", [(), (0,), (1, 1, 1, 1, 1, 2)])
def test_chunks_of_odd_shapes(made: Any, shape: tuple[int, ...]) -> None:
    for kind in ("f4", "c8"):
        chunk = np.ones(shape, kind)
        assert made("mpc").decode(made("mpc").encode(chunk)).tobytes() == chunk.tobytes()


def test_bounds_hold(made: Any) -> None:
    back = made("szp:abs=1e-3").decode(made("szp:abs=1e-3").encode(VALUES)).reshape(VALUES.shape)
    error = np.abs(back.astype("f8") - VALUES).max()
    assert 0 < error <= 1e-3


def test_words_of_types_that_numpy_has_not(made: Any) -> None:
    words = (VALUES.view("u4") >> 16).astype("u2")
    codec = made("expack", dtype="bf16")
    frame = codec.encode(words)
    assert thinwire.inspect(frame).dtype == "bf16"
    assert np.array_equal(codec.decode(frame).reshape(words.shape), words)


def test_the_configuration_comes_back(made: Any) -> None:
    import numcodecs

    numcodecs.register_codec(made)
    for codec in (made("szp:abs=0.001"), made("expack", dtype="bf16"), made()):
        again = numcodecs.get_codec(json.loads(json.dumps(codec.get_config())))
        assert again == codec and type(again) is made
    assert made("mpc").get_config() == {"id": "thinwire", "codec": "mpc:stride=1"}


def test_numcodecs_finds_it_where_it_is_installed(made: Any) -> None:
    found = importlib.metadata.entry_points(group="numcodecs.codecs", name="thinwire")
    if not found:
        pytest.skip("thinwire is not installed with this entry point")
    assert {each.load() for each in found} == {made}


def test_errors_are_exceptions(made: Any) -> None:
    with pytest.raises(thinwire.ThinwireError, match="no codec named 'nonsense'"):
        made("nonsense")
    with pytest.raises(ValueError, match="no dtype 'f8'"):
        made("mpc", dtype="f8")
    with pytest.raises(thinwire.ThinwireError):
        made("mpc").encode(np.arange(10))
    frame = bytearray(made("mpc").encode(VALUES))
    changed = frame.copy()
    changed[len(frame) // 2] ^= 1
    with pytest.raises(ValueError):
        made("mpc").decode(bytes(frame), out=np.empty(VALUES.shape[1:], "f4"))
    for damaged in (frame[:-1], b"", bytes(100), changed):
        with pytest.raises(thinwire.ThinwireError):
            made("mpc").decode(bytes(damaged))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["f4", ">f8", "c8"])
def test_zarr_reads_it_back(made: Any, tmp_path: Path, order: Any, kind: str) -> None:
    import numcodecs

    zarr = pytest.importorskip("zarr")
    numcodecs.register_codec(made)
    values = VALUES.astype(kind)
    array = zarr.create_array(
        str(tmp_path / "a.zarr"),
        shape=values.shape,
        chunks=(4, 16, 48),
        dtype=kind,
        order=order,
        compressors=made("lossless" if kind == ">f8" else "lorenzo"),
        zarr_format=2,
    )
    array[:] = values
    array[1, 2] = values[0, 0]
    values[1, 2] = values[0, 0]
    found = zarr.open(str(tmp_path / "a.zarr"), mode="r")
    assert found.metadata.compressor == array.metadata.compressor
    assert np.array_equal(found[:], values) and np.array_equal(found[1:3, ::5], values[1:3, ::5])
    chunk = next(each for each in (tmp_path / "a.zarr").iterdir() if each.name == "0.0.0")
    assert thinwire.inspect(chunk.read_bytes()).raw_bytes == 4 * 16 * 48 * values.itemsize
