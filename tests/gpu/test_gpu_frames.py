"""Every codec of the registry on a GPU against the same codec on the CPU: the same bytes, the same
values, nothing written outside."""

from pathlib import Path

import frame_bytes
import golden_vectors
import numpy as np
import pytest
from golden_vectors import Case
from gpu_calls import (
    CANARY,
    DeviceBuffer,
    bound,
    decode,
    decode_on_host,
    encode,
    encode_on_host,
    options_struct,
    shape_struct,
)
from gpu_data import COUNTS, KINDS, LARGE_COUNTS, SHAPES, Coder, coders, make, within_reach

from thinwire import Codec
from thinwire.library import library

OFFSETS = (0, 1, 2, 4, 8)


def check_array(
    codec: Codec,
    dtype: str,
    values: np.ndarray,
    offsets: tuple[int, int, int] = (0, 0, 0),
    flags: int = 0,
) -> np.ndarray:
    """Encode and decode on both sides, and crosswise; returns the frame. `offsets` shift the
    array, the frame and the decoded array."""
    shape = shape_struct(dtype, values.shape)
    status, expected = encode_on_host(codec, dtype, values.shape, values, flags)
    source = DeviceBuffer(values, offsets[0])
    frame = DeviceBuffer(bound(codec, shape), offsets[1])
    for _ in range(2):  # twice the same
        found, written = encode(
            codec, shape, source.address, frame.address, frame.nbytes, options_struct(flags)
        )
        assert found == status
        contents = frame.read()
        if status == 0:
            assert np.array_equal(contents[:written], expected)
    assert np.array_equal(source.read(), values.reshape(-1).view(np.uint8))
    if status == 0:
        check_decoding(expected, values.nbytes, offsets)
    return expected


def check_decoding(frame: np.ndarray, nbytes: int, offsets: tuple[int, int, int]) -> None:
    """A sound frame, from either side to the GPU and from the GPU to the host."""
    status, expected = decode_on_host(frame, nbytes)
    assert status == 0
    there = DeviceBuffer(frame, offsets[1])
    for source in (there.address, frame.ctypes.data):
        out = DeviceBuffer(nbytes, offsets[2])
        assert decode(source, frame.size, out.address, nbytes) == 0
        assert np.array_equal(out.read(), expected)
    host = np.full(nbytes + 1, CANARY, np.uint8)
    assert decode(there.address, frame.size, host.ctypes.data, nbytes) == 0
    assert np.array_equal(host[:nbytes], expected) and host[nbytes] == CANARY


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("coder", coders(), ids=str)
def test_lines(coder: Coder, kind: str) -> None:
    codec = coder.codec()
    for count in within_reach(COUNTS):
        check_array(codec, coder.dtype, make(kind, coder.dtype, (count,), seed=count))


@pytest.mark.parametrize("kind", ["smooth", "special", "sparse", "spread"])
@pytest.mark.parametrize("coder", coders(), ids=str)
def test_long_lines(coder: Coder, kind: str) -> None:
    codec = coder.codec()
    for count in within_reach(LARGE_COUNTS):
        check_array(codec, coder.dtype, make(kind, coder.dtype, (count,), seed=count))


@pytest.mark.parametrize("kind", ["smooth", "random", "huge"])
@pytest.mark.parametrize("coder", [each for each in coders() if each.max_rank > 1], ids=str)
def test_planes_and_volumes(coder: Coder, kind: str) -> None:
    codec = coder.codec()
    for shape in SHAPES:
        check_array(codec, coder.dtype, make(kind, coder.dtype, shape))


CHOICE_SHAPES = (
    (5000,), (40001,), (1050001,), (2, 90001), (700, 801), (1, 700, 801), (40, 61, 130),
    (130, 61, 40), (3, 17, 64, 100), (700, 1, 1, 500),
)  # fmt: skip


@pytest.mark.parametrize("kind", ["smooth", "random", "sparse", "spread"])
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_the_choice_is_that_of_the_cpu(dtype: str, kind: str) -> None:
    """Of codec, stride and axes, by samples that are gathered on either side."""
    for shape in CHOICE_SHAPES:
        check_array(Codec("lossless"), dtype, make(kind, dtype, shape))


@pytest.mark.parametrize("kind", ["smooth", "sparse"])
@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_any_alignment(coder: Coder, kind: str) -> None:
    codec = coder.codec()
    values = make(kind, coder.dtype, (20011,))
    for offset in OFFSETS:
        for offsets in ((offset, 0, 0), (0, offset, 0), (0, 0, offset), (offset, 4, offset + 1)):
            check_array(codec, coder.dtype, values, offsets)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_without_checksums(coder: Coder) -> None:
    codec, flag = coder.codec(), library().TW_MESSAGE_NO_CHECKSUM
    for count in (1000, 16385, 70001):
        check_array(codec, coder.dtype, make("smooth", coder.dtype, (count,)), flags=flag)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_frames_across_the_bus(coder: Coder) -> None:
    """An array on the GPU into a frame in host memory, and the reverse."""
    codec, values = coder.codec(), make("smooth", coder.dtype, (50021,))
    shape = shape_struct(coder.dtype, values.shape)
    _, expected = encode_on_host(codec, coder.dtype, values.shape, values)
    capacity = bound(codec, shape)
    source = DeviceBuffer(values)
    host = np.full(capacity + 1, CANARY, np.uint8)
    status, written = encode(codec, shape, source.address, host.ctypes.data, capacity)
    assert status == 0 and np.array_equal(host[:written], expected) and host[capacity] == CANARY
    frame = DeviceBuffer(capacity)
    status, written = encode(codec, shape, values.ctypes.data, frame.address, capacity)
    assert status == 0 and np.array_equal(frame.read()[:written], expected)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_incompressible_data_hardly_grows(coder: Coder) -> None:
    codec = coder.codec()
    values = make("random", coder.dtype, (1 << 20,))
    frame = check_array(codec, coder.dtype, values)
    assert frame.size <= values.nbytes * 1.001 + 128
    # A tenth of it random: the chunks of that tenth are stored raw, the rest is coded.
    mixed = make("smooth", coder.dtype, (1 << 20,)).copy()
    mixed[: 1 << 17] = values[: 1 << 17]
    check_array(codec, coder.dtype, mixed)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_what_would_not_shrink_is_declined_where_asked(coder: Coder) -> None:
    codec, flag = coder.codec(), library().TW_MESSAGE_DECLINE
    values = make("random", coder.dtype, (100003,))
    status, _ = encode_on_host(codec, coder.dtype, values.shape, values, flag)
    check_array(codec, coder.dtype, values, flags=flag)
    if coder.spec == "raw" or coder.spec.startswith("mpc"):
        assert status == library().TW_DECLINED


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_a_capacity_below_the_bound_is_refused(coder: Coder) -> None:
    codec, values = coder.codec(), make("smooth", coder.dtype, (5000,))
    shape = shape_struct(coder.dtype, values.shape)
    source, frame = DeviceBuffer(values), DeviceBuffer(bound(codec, shape) - 1)
    status, _ = encode(codec, shape, source.address, frame.address, frame.nbytes)
    assert status == library().TW_TOO_SMALL
    frame.read()
    _, sound = encode_on_host(codec, coder.dtype, values.shape, values)
    out = DeviceBuffer(values.nbytes - 1)
    status = decode(DeviceBuffer(sound).address, sound.size, out.address, out.nbytes)
    assert status == library().TW_TOO_SMALL
    out.read()


# The golden vectors of tests/vectors, coded on a GPU.


def decoded_on_gpu(frame: np.ndarray, case: Case) -> bytes | None:
    out = DeviceBuffer(case.values.nbytes)
    status = decode(DeviceBuffer(frame).address, frame.size, out.address, out.nbytes)
    assert status in (0, library().TW_DAMAGED), case.spec
    return None if status else out.read().tobytes()


def encoded_on_gpu(case: Case) -> np.ndarray:
    codec, shape = Codec(case.spec), shape_struct(case.dtype, case.values.shape)
    source, frame = DeviceBuffer(case.values), DeviceBuffer(bound(codec, shape))
    status, written = encode(codec, shape, source.address, frame.address, frame.nbytes)
    assert status == 0
    return frame.read()[:written]


@pytest.mark.parametrize("file", golden_vectors.FILES, ids=lambda file: file.stem)
def test_decoded(file: Path) -> None:
    golden_vectors.check_decoded(golden_vectors.read(file), decoded_on_gpu)


@pytest.mark.parametrize("file", golden_vectors.FILES, ids=lambda file: file.stem)
def test_encoded(file: Path) -> None:
    golden_vectors.check_encoded(golden_vectors.read(file), encoded_on_gpu)


def test_the_checksum_is_the_specs() -> None:
    data = bytes(index % 251 for index in range(5000))
    expected = {1: 0xD130E3CBA3ECBBA7, 1024: 0xAC139EE961C4E74C, 5000: 0x5B8C77AAF66B0E07}
    for length, value in expected.items():
        assert frame_bytes.checksum(data[:length]) == value
