"""Missing values of arrays in GPU memory: the frames, values and answers of the CPU."""

from collections.abc import Iterator

import cuda_driver
import frame_bytes as fb
import numpy as np
import pytest
from cuda_driver import Capture
from enqueued import Enqueued
from fill_data import BITS, INFINITY, SHARES, field, fills_of, lossy, numbers, put, with_fill
from gpu_calls import (
    DeviceBuffer,
    bound,
    decode,
    encode,
    encode_on_host,
    options_struct,
    shape_struct,
)
from gpu_data import Coder, make, within_reach
from test_gpu_frames import check_array

from thinwire import Codec
from thinwire.library import library

COUNTS = (1, 2, 31, 33, 255, 1000, 4097, 16385, 40001, 262145)
SHAPES = ((3, 5), (129, 131), (1, 5000), (5000, 1), (33, 17, 29), (31, 64, 65), (2, 3, 5, 70))


def check_values(
    codec: Codec, dtype: str, values: np.ndarray, missing: np.ndarray, frame: np.ndarray
) -> None:
    """The missing ones to the bit, the others within the bound, after a decode on the GPU."""
    there, out = DeviceBuffer(frame), DeviceBuffer(values.nbytes)
    assert decode(there.address, frame.size, out.address, values.nbytes) == 0
    back = out.read().view(values.dtype)
    own = values.reshape(-1)
    assert back[missing].tobytes() == own[missing].tobytes()
    apart = np.abs(numbers(back, dtype) - numbers(own, dtype))[~missing]
    options = dict(part.split("=") for part in codec.spec.partition(":")[2].split(","))
    sound = numbers(own, dtype)[~missing]
    if "abs" in options and apart.size:
        assert apart.max() <= float(options["abs"])
    if "rel" in options and apart.size:
        assert apart.max() <= float(options["rel"]) * (sound.max() - sound.min())


@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("coder", lossy(), ids=str)
def test_lines(coder: Coder, share: int | str) -> None:
    coded = 0
    for fill, bits in fills_of(coder.dtype):
        codec = with_fill(coder, fill)
        for count in within_reach(COUNTS):
            values, missing = field(coder.dtype, (count,), share, bits, seed=count)
            frame = check_array(codec, coder.dtype, values)
            if frame.size and fb.get(frame, fb.CODEC_AT, 1) in codec.ids:
                coded += 1
                check_values(codec, coder.dtype, values, missing, frame)
    assert coded or (share in (0, "one") and coder.spec in ("zfp:rate=32", "szp:abs=0"))


@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("coder", [each for each in lossy() if each.max_rank > 1], ids=str)
def test_planes_and_volumes(coder: Coder, share: int | str) -> None:
    for fill, bits in fills_of(coder.dtype):
        for shape in SHAPES:
            values, _ = field(coder.dtype, shape, share, bits, seed=len(shape))
            check_array(with_fill(coder, fill), coder.dtype, values)


@pytest.mark.parametrize("coder", lossy(every_spec=False), ids=str)
def test_any_alignment_and_no_checksums(coder: Coder) -> None:
    for fill, bits in fills_of(coder.dtype):
        codec = with_fill(coder, fill)
        values, _ = field(coder.dtype, (20011,), 30, bits)
        for offset in (1, 2, 4, 8):
            for offsets in ((offset, 0, 0), (0, offset, 0), (0, 0, offset)):
                check_array(codec, coder.dtype, values, offsets)
        check_array(codec, coder.dtype, values, flags=library().TW_MESSAGE_NO_CHECKSUM)


def odd_arrays(dtype: str) -> Iterator[tuple[str, np.ndarray]]:
    """Besides the missing ones: values that are not finite, another kind of fill value, NaN of
    other bits, integers, and nothing but zeros."""
    nan, large, second = BITS[dtype]
    for name, bits in (
        ("infinity", INFINITY[dtype]),
        ("another NaN", nan + 1),
        ("second", second),
        ("integer", 17),
    ):
        for fill in (nan, large):
            values, _ = field(dtype, (30011,), 30, fill)
            put(values, np.arange(7, values.size, 977), bits)
            yield name, values
    zeros = make("zeros", dtype, (30011,)).copy()
    put(zeros, np.arange(0, zeros.size, 3), large)
    yield "zeros", zeros
    sparse = make("sparse", dtype, (30011,)).copy()
    put(sparse, np.array([12345]), large)
    yield "sparse", sparse
    yield "special", make("special", dtype, (30011,))
    huge = make("huge", dtype, (30011,)).copy()
    yield "huge", huge


@pytest.mark.parametrize("coder", lossy(), ids=str)
def test_odd_arrays(coder: Coder) -> None:
    lib = library()
    for fill in ("nan", "auto", "1e36", "0", "-0", "inf", "1e300"):
        codec = with_fill(coder, fill)
        for _name, values in odd_arrays(coder.dtype):
            for flags in (0, lib.TW_MESSAGE_DECLINE, lib.TW_MESSAGE_INTEGERS):
                check_array(codec, coder.dtype, values, flags=flags)


@pytest.mark.parametrize("times", [(100, 99), (99, 100), (100, 100)], ids=str)
@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16"])
def test_auto_takes_the_most_frequent(dtype: str, times: tuple[int, int]) -> None:
    """Of two kinds, and of one kind and NaN; of equally frequent ones the first."""
    nan, large, second = BITS[dtype]
    spec = "blockq:fill=auto" if dtype == "bf16" else "szp:rel=1e-3,fill=auto"
    for one, other in ((large, second), (second, large), (large, nan), (nan, large)):
        for first in (0, 1):
            values = make("smooth", dtype, (50021,)).copy()
            put(values, first + 4 * np.arange(times[0]), one)
            put(values, 1 - first + 4 * np.arange(times[1]), other)
            check_array(Codec(spec), dtype, values, flags=library().TW_MESSAGE_INTEGERS)


@pytest.mark.parametrize("coder", lossy(every_spec=False), ids=str)
def test_frames_go_to_the_host_and_sums_are_those_of_the_cpu(coder: Coder) -> None:
    for fill, bits in fills_of(coder.dtype):
        codec, shape = with_fill(coder, fill), shape_struct(coder.dtype, (70001,))
        values, _ = field(coder.dtype, (70001,), 30, bits)
        _, expected = encode_on_host(codec, coder.dtype, values.shape, values)
        source, here = DeviceBuffer(values), np.zeros(bound(codec, shape), np.uint8)
        status, written = encode(codec, shape, source.address, here.ctypes.data, here.size)
        assert status == 0 and np.array_equal(here[:written], expected)
        options = options_struct(library().TW_MESSAGE_ADD)
        before = make("random", coder.dtype, values.shape, seed=5)
        finite = make("smooth", coder.dtype, values.shape, seed=5)
        for there in (before, finite):
            on_host = there.copy()
            address = expected.ctypes.data
            assert decode(address, written, on_host.ctypes.data, values.nbytes, options) == 0
            on_gpu, frame = DeviceBuffer(there), DeviceBuffer(expected)
            assert decode(frame.address, written, on_gpu.address, values.nbytes, options) == 0
            assert np.array_equal(on_gpu.read(), on_host.view(np.uint8))


@pytest.mark.parametrize("coder", lossy(every_spec=False), ids=str)
def test_enqueued_and_captured(coder: Coder) -> None:
    """With missing values and without, in one workspace; and a graph with other data."""
    flags = library().TW_MESSAGE_DECLINE | library().TW_MESSAGE_INTEGERS
    DeviceBuffer(np.zeros(1))  # makes the context that streams are of
    for fill, bits in fills_of(coder.dtype):
        codec = with_fill(coder, fill)
        with cuda_driver.stream() as stream:
            values, _ = field(coder.dtype, (70001,), 30, bits)
            work = Enqueued(codec, coder.dtype, values, stream)
            for share in SHARES:
                values, _ = field(coder.dtype, (70001,), share, bits, seed=2)
                work.load(values)
                work.clear()
                assert work.encode() == 0 and work.decode() == 0
                expected = encode_on_host(codec, coder.dtype, values.shape, values, flags)
                work.check(values, expected)
            capture = Capture(stream)
            assert work.encode() == 0 and work.decode() == 0
            graph = capture.end()
            for share in (30, 0, 100):
                values, _ = field(coder.dtype, (70001,), share, bits, seed=3)
                work.load(values)
                work.clear()
                graph.launch(stream)
                expected = encode_on_host(codec, coder.dtype, values.shape, values, flags)
                work.check(values, expected)
            graph.close()


def test_an_empty_array_misses_nothing() -> None:
    for coder in lossy(every_spec=False):
        check_array(with_fill(coder, "auto"), coder.dtype, make("smooth", coder.dtype, (0,)))


def test_a_large_array() -> None:
    values, missing = field("f32", (1 << 24,), 30, BITS["f32"][1])
    for spec in ("szp:rel=1e-3,fill=auto", "zfp:rate=8,fill=auto", "cast:to=bf16,fill=1e36"):
        codec = Codec(spec)
        frame = check_array(codec, "f32", values)
        check_values(codec, "f32", values, missing, frame)
