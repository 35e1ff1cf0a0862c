"""The Python face of codecs and frames."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import thinwire
from thinwire import headers
from thinwire.bench import float8


def wave(count: int) -> np.ndarray:
    return np.sin(0.01 * np.arange(count)).astype(np.float32)


def examples(dtype: str) -> list[str]:
    """Of the codecs that code host memory."""
    rows = [row for row in thinwire.codecs() if not row.gpu_only]
    return [row.example for row in rows if dtype in row.dtypes]


def test_registry_is_complete() -> None:
    rows = {row.name: row for row in thinwire.codecs()}
    assert rows["raw"].lossless and not rows["zfp"].lossless
    assert len({row.id for row in rows.values()}) == len(rows)
    assert all(row.id < 0xF0 for row in rows.values()), "a test codec is in the shipped library"


@pytest.mark.parametrize("spec", examples("f32"))
def test_round_trip(spec: str) -> None:
    data = wave(40001)
    frame = thinwire.compress(data, spec)
    info = thinwire.inspect(frame)
    assert (info.spec, info.dtype, info.shape) == (spec, "f32", (40001,))
    assert info.raw_bytes == data.nbytes
    assert info.frame_bytes == len(frame)
    out = thinwire.decompress(frame)
    assert out.dtype == data.dtype
    np.testing.assert_allclose(out, data, atol=5e-3)  # bytes under a scale are the coarsest


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8, np.int64])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (5, 7), (2, 3, 4), (2, 2, 2, 2, 2)])
def test_raw_frames_of_every_shape(dtype: type, shape: tuple[int, ...]) -> None:
    data = (np.arange(np.prod(shape, dtype=int)) % 100).astype(dtype).reshape(shape)
    out = thinwire.decompress(thinwire.compress(data, "raw"))
    assert out.tobytes() == data.tobytes()
    assert out.shape == ((data.nbytes,) if dtype is np.int64 else shape)  # as integers are bytes


ODD_SHAPES = [(), (0,), (0, 300), (4, 0, 3), (2, 4, 5, 50, 30), (2,) * 9, (1,) * 7]


@pytest.mark.parametrize("spec", ["raw", "mpc", "szp:rel=1e-3", "zfp:rate=16", "auto"])
@pytest.mark.parametrize("shape", ODD_SHAPES, ids=str)
def test_arrays_come_back_in_their_shape(spec: str, shape: tuple[int, ...]) -> None:
    data = wave(math.prod(shape)).reshape(shape)
    frame = thinwire.compress(data, spec)
    assert thinwire.inspect(frame).shape == shape
    out = thinwire.decompress(frame)
    assert out.shape == shape
    np.testing.assert_allclose(out, data, atol=5e-3)
    into = np.empty_like(data)
    assert thinwire.decompress(frame, out=into) is into
    assert into.tobytes() == out.tobytes()
    padded = np.frombuffer(frame + bytes(1000), np.uint8)
    assert thinwire.decompress(padded).shape == shape


def test_slow_axes_of_five_count_as_one() -> None:
    data = wave(64 * 64 * 16).reshape(4, 4, 4, 64, 16)
    folded = thinwire.compress(data.reshape(16, 4, 64, 16), "lorenzo")
    assert thinwire.compress(data, "lorenzo").startswith(folded)


def test_a_note_that_is_damaged_is_refused() -> None:
    frame = thinwire.compress(wave(6).reshape(1, 1, 1, 2, 3), "raw")
    at = frame.index(headers.MARK)
    other = frame[:at] + headers.note_of((7, 1, 1, 1, 1))
    many = frame[:at] + headers.MARK + b"\xff" * 8
    for bad in (frame[:-1], frame[:-8] + bytes(8), frame[: at + 9], other, many):
        for read in (thinwire.inspect, thinwire.decompress):
            with pytest.raises(thinwire.ThinwireError, match="damaged"):
                read(bad)
    assert thinwire.inspect(frame[:at] + bytes(40)).shape == (1, 1, 2, 3)


@pytest.mark.parametrize("fill", [9.96921e36, 1e20, -1e30])
@pytest.mark.parametrize("spec", ["szp:rel=1e-3", "zfp:rate=16", "blockq"])
def test_fill_values_leave_an_array_raw(spec: str, fill: float) -> None:
    data = (280 + 20 * np.sin(np.arange(100_000) * 1e-3)).astype(np.float32)
    assert thinwire.inspect(thinwire.compress(data, spec)).spec != "raw"
    data[::50] = fill
    frame = thinwire.compress(data, spec)
    assert thinwire.inspect(frame).spec == "raw"
    assert (thinwire.decompress(frame) == data).all()
    bounded = thinwire.compress(data, "szp:abs=1e-2")
    assert thinwire.inspect(bounded).spec == "szp:abs=0.01"
    assert np.abs(thinwire.decompress(bounded) - data).max() <= 1e-2


SAYS_ONCE = """
import numpy, thinwire
values = numpy.full(10000, 280, "f4")
values[::50] = 1e36
for _ in range(3):
    thinwire.compress(values, "blockq")
"""


def test_fill_values_are_told_once_or_coded() -> None:
    said = subprocess.run([sys.executable, "-c", SAYS_ONCE], capture_output=True, text=True)
    assert said.stderr.count("fill values") == 1, said.stderr
    coded = SAYS_ONCE + "assert thinwire.inspect(thinwire.compress(values, 'blockq')).spec != 'raw'"
    environment = {**os.environ, "THINWIRE_FILL_VALUES": "code"}
    words = [sys.executable, "-c", coded]
    said = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert (said.returncode, said.stderr) == (0, "")


def test_arrays_out_of_order_and_of_higher_rank() -> None:
    data = wave(6000).reshape(20, 300).T
    out = thinwire.decompress(thinwire.compress(data, "zfp:rate=16"))
    np.testing.assert_allclose(out.reshape(data.shape), data, atol=1e-2)


def test_bf16_travels_as_words() -> None:
    words = (wave(1000).view(np.uint32) >> 16).astype(np.uint16)
    frame = thinwire.compress(words, "raw", dtype="bf16")
    assert thinwire.inspect(frame).dtype == "bf16"
    assert (thinwire.decompress(frame) == words).all()


@pytest.mark.parametrize("dtype", ["e4m3", "e5m2"])
def test_8_bit_floats_travel_as_bytes(dtype: str) -> None:
    words = float8.scaled(np.random.default_rng(5).standard_normal((70, 300)), dtype)
    for spec in ("raw", "expack", "expack:mode=fixed", "auto", "lossless"):
        frame = thinwire.compress(words, spec, dtype=dtype)
        info = thinwire.inspect(frame)
        assert (info.dtype, info.shape, info.raw_bytes) == (dtype, (70, 300), 21000)
        assert info.spec == "raw" or len(frame) < 0.95 * words.nbytes
        assert (info.spec == "raw") == (spec == "raw")
        back = thinwire.decompress(frame)
        assert back.dtype == np.uint8 and (back == words).all()
        with pytest.raises(thinwire.ThinwireError, match=f"an array of {dtype} cannot be added"):
            thinwire.decompress(frame, out=back, add=True)
    for row in thinwire.codecs():
        if dtype not in row.dtypes and not row.gpu_only:
            with pytest.raises(thinwire.ThinwireError, match=dtype):
                thinwire.compress(words, row.example, dtype=dtype)


@pytest.mark.parametrize(("dtype", "name"), [("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2")])
def test_8_bit_floats_of_ml_dtypes(dtype: str, name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))
    assert thinwire.inspect(thinwire.compress(values, "raw")).dtype == dtype
    numbers = values.astype(np.float64)
    assert np.array_equal(float8.numbers(dtype), numbers, equal_nan=True)


def test_not_a_number_survives_a_lossy_codec() -> None:
    data = wave(5000)
    data[1234] = np.nan
    frame = thinwire.compress(data, "zfp:rate=8")
    assert thinwire.inspect(frame).spec == "raw"
    assert thinwire.decompress(frame).tobytes() == data.tobytes()


def test_damage_is_an_exception() -> None:
    frame = bytearray(thinwire.compress(wave(5000), "zfp:rate=8"))
    frame[-1] ^= 1
    with pytest.raises(thinwire.ThinwireError, match="damaged"):
        thinwire.decompress(frame)
    with pytest.raises(thinwire.ThinwireError, match="not a frame"):
        thinwire.inspect(b"something else entirely")
    with pytest.raises(thinwire.ThinwireError):
        thinwire.inspect(b"")


def test_a_codec_that_is_not_installed_says_how_to_get_it() -> None:
    """In a process that cannot find nvCOMP, whatever this machine has."""
    script = """
import numpy as np, thinwire
row = next(row for row in thinwire.codecs() if row.name == "nvcomp-ans")
assert not row.available and row.gpu_only and thinwire.Codec(row.example).spec == row.example
try:
    thinwire.compress(np.zeros(1000, np.float32), row.example)
except thinwire.ThinwireError as error:
    print(row.unavailable, error, sep="\\n")
"""
    settings = os.environ | {"THINWIRE_NVCOMP": "/nonexistent/libnvcomp.so.6"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=settings, capture_output=True, text=True, check=True
    )
    row, error = done.stdout.splitlines()
    assert "nvcomp-ans" in error
    # Builds without CUDA have nothing that could use it.
    wanted = "THINWIRE_NVCOMP" if "not found" in row else "no GPU side"
    assert wanted in row and wanted in error


def test_specs() -> None:
    assert thinwire.Codec("zfp:rate=16").spec == "zfp:rate=16"
    with pytest.raises(thinwire.ThinwireError, match="no codec named 'zpf'"):
        thinwire.Codec("zpf:rate=16")


def test_measure() -> None:
    cost = thinwire.Codec("zfp:rate=16").measure("f32", 1 << 16)
    assert cost.encode_bytes_per_second > 1e6
    assert cost.decode_bytes_per_second > 1e6
    assert 1.9 < cost.ratio <= 2.0
    with pytest.raises(thinwire.ThinwireError, match="does not take"):
        thinwire.Codec("zfp:rate=16").measure("bytes", 1 << 16)
