"""Integers in the bits of floats and fill values: declined on the GPU where they are on the CPU."""

import cuda_driver
import numpy as np
import pytest
from enqueued import Enqueued
from gpu_calls import DeviceBuffer, bound, encode, encode_on_host, options_struct, shape_struct
from gpu_data import Coder, make

from thinwire import codecs
from thinwire.library import ffi, library

# Integers in the bits of doubles: declined on the GPU where they are on the CPU.

pytestmark = pytest.mark.usefixtures("cuda")

SPECS = ("szp:abs=1e-3", "szp:rel=1e-3", "szp:abs=0", "zfp:rate=16", "zfp:rate=9.25")
LINE = (70001,)
SHAPES = (LINE, (8192,), (129, 131), (64, 128), (33, 17, 29), (32, 32, 32))
INTEGERS = (1, 7, (1 << 40) - 1, -1, 1 - (1 << 40))


def foreign() -> list[str]:
    rows = [row for row in codecs() if row.gpu_only and row.available and not row.lossless]
    return [row.example for row in rows]


def with_integer(shape: tuple[int, ...], place: int, integer: int) -> np.ndarray:
    values = make("smooth", "f64", shape).copy()
    values.reshape(-1).view(np.int64)[place] = integer
    return values


def encode_on_gpu(spec: str, values: np.ndarray, flags: int, offset: int = 0) -> tuple[int, bytes]:
    codec, shape = Coder(spec, "f64", 3).codec(), shape_struct("f64", values.shape)
    source, frame = DeviceBuffer(values, offset), DeviceBuffer(bound(codec, shape))
    options = options_struct(flags)
    status, written = encode(codec, shape, source.address, frame.address, frame.nbytes, options)
    return status, frame.read()[: written if status == 0 else 0].tobytes()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_one_anywhere_declines_the_array(spec: str, shape: tuple[int, ...]) -> None:
    lib = library()
    count = int(np.prod(shape))
    for turn, integer in enumerate(INTEGERS):
        for place in (0, count // 3 + turn, count - 1):
            values = with_integer(shape, place, integer)
            for offset in (0, 8, 1):
                status, _ = encode_on_gpu(spec, values, lib.TW_MESSAGE_DECLINE, offset)
                assert status == lib.TW_HOLDS_INTEGERS, (integer, place, offset)
    values = with_integer(shape, count // 2, 1 << 40)
    for flags in (lib.TW_MESSAGE_DECLINE, 0):
        status, frame = encode_on_gpu(spec, values, flags)
        expected = encode_on_host(Coder(spec, "f64", 3).codec(), "f64", shape, values, flags)
        assert status == expected[0] and frame == expected[1].tobytes()


@pytest.mark.parametrize("spec", SPECS)
def test_the_raw_frame_is_the_cpus_and_the_next_array_is_coded(spec: str) -> None:
    """The workspace is left as it was found."""
    for values in (
        with_integer(LINE, 5, 5),
        make("smooth", "f64", LINE),
        make("zeros", "f64", LINE),
    ):
        _, frame = encode_on_gpu(spec, values, 0)
        expected = encode_on_host(Coder(spec, "f64", 3).codec(), "f64", LINE, values)
        assert frame == expected[1].tobytes()


@pytest.mark.parametrize("spec", SPECS)
def test_the_flag_has_them_coded(spec: str) -> None:
    flags = library().TW_MESSAGE_INTEGERS | library().TW_MESSAGE_DECLINE
    values = with_integer(LINE, 50000, 123)
    expected = encode_on_host(Coder(spec, "f64", 3).codec(), "f64", LINE, values, flags)
    assert encode_on_gpu(spec, values, flags) == (expected[0], expected[1].tobytes())


@pytest.mark.parametrize("spec", ["szp:abs=1e-3", "zfp:rate=16"])
def test_enqueued_work_codes_them(spec: str) -> None:
    values = with_integer(LINE, 5, 5)
    flags = library().TW_MESSAGE_INTEGERS | library().TW_MESSAGE_DECLINE
    expected = encode_on_host(Coder(spec, "f64", 3).codec(), "f64", LINE, values, flags)
    with cuda_driver.stream() as stream:
        work = Enqueued(Coder(spec, "f64", 3).codec(), "f64", values, stream)
        assert work.encode() == 0 and work.decode() == 0
        work.check(values, expected)


@pytest.mark.parametrize("spec", foreign())
def test_nvcomps_lossy_codec_declines_too(spec: str) -> None:
    lib = library()
    assert encode_on_gpu(spec, make("smooth", "f64", LINE), lib.TW_MESSAGE_DECLINE)[0] == 0
    values = with_integer(LINE, 69999, 3)
    assert encode_on_gpu(spec, values, lib.TW_MESSAGE_DECLINE)[0] == lib.TW_HOLDS_INTEGERS
    assert encode_on_gpu(spec, make("smooth", "f64", LINE), lib.TW_MESSAGE_DECLINE)[0] == 0


def test_declined_arrays_are_counted() -> None:
    lib = library()
    counters = ffi.new("tw_integer_counters *")
    counters.size = ffi.sizeof("tw_integer_counters")
    lib.tw_integers_describe(counters)
    before = counters.declined
    encode_on_gpu("szp:abs=1e-3", with_integer(LINE, 1, 1), 0)
    lib.tw_integers_describe(counters)
    assert counters.declined == before + 1


# Fill values under codecs without a bound: declined on the GPU where they are on the CPU.

FILL_VALUES_SPECS = ("szp:rel=1e-3", "zfp:rate=16", "blockq", "szp:abs=1e-3")
FILL_VALUES_SHAPES = ((1000,), (70001,), (129, 131), (33, 17, 29), (1 << 21,))


def fill_values_encode_on_gpu(
    spec: str, values: np.ndarray, flags: int, offset: int = 0
) -> tuple[int, bytes]:
    codec, shape = Coder(spec, "f32", 3).codec(), shape_struct("f32", values.shape)
    source, frame = DeviceBuffer(values, offset), DeviceBuffer(bound(codec, shape))
    status, written = encode(
        codec, shape, source.address, frame.address, frame.nbytes, options_struct(flags)
    )
    return status, frame.read()[: written if status == 0 else 0].tobytes()


def with_fill(shape: tuple[int, ...], fill: float) -> np.ndarray:
    values = make("smooth", "f32", shape).copy()
    values.reshape(-1)[:: 50 if fill else values.size + 1] = fill
    return values


@pytest.mark.parametrize("shape", FILL_VALUES_SHAPES, ids=str)
@pytest.mark.parametrize("spec", FILL_VALUES_SPECS)
def test_the_frames_are_the_cpus(spec: str, shape: tuple[int, ...]) -> None:
    lib = library()
    for fill in (0.0, 9.96921e36, 1e20, float(np.finfo(np.float32).max)):
        values = with_fill(shape, fill)
        for flags in (0, lib.TW_MESSAGE_DECLINE, lib.TW_MESSAGE_INTEGERS):
            status, data = encode_on_host(
                Coder(spec, "f32", 3).codec(), "f32", shape, values, flags
            )
            expected = (status, data.tobytes() if status == 0 else b"")
            for offset in (0, 4, 1):
                assert fill_values_encode_on_gpu(spec, values, flags, offset) == expected, (
                    fill,
                    flags,
                    offset,
                )


@pytest.mark.parametrize("spec", FILL_VALUES_SPECS[:3])
def test_fill_values_are_declined(spec: str) -> None:
    lib = library()
    for fill, wanted in ((0.0, 0), (1e36, lib.TW_DECLINED)):
        status, _ = fill_values_encode_on_gpu(
            spec, with_fill((70001,), fill), lib.TW_MESSAGE_DECLINE
        )
        assert status == wanted
