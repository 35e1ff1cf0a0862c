"""What `compress` and `decompress` take, and what they refuse, as far as no GPU is needed."""

import array
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import thinwire
from thinwire import dlpack
from thinwire.arrays import stream_number, view_of
from thinwire.gpu import Frame, GpuArray


@dataclass
class HostMemory:
    """Stands in for GPU memory where only its description is looked at."""

    data: np.ndarray
    gpu: int = 0
    shown: bool = False

    @property
    def pointer(self) -> int:
        return self.data.ctypes.data


class Claims:
    """Says that it lies on a GPU."""

    def __init__(self, **said: Any) -> None:
        self.__cuda_array_interface__ = {
            "version": 3, "typestr": "<f4", "shape": (4, 4), "data": (4096, False), **said
        }  # fmt: skip


class OnOtherDevice:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 10, 0  # ROCm

    def __dlpack__(self, **_: Any) -> object:
        raise AssertionError("asked for memory that is out of reach")


class OldProducer:
    """As before DLPack had versions."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.data.__dlpack_device__()

    def __dlpack__(self, stream: Any = None) -> object:
        return self.data.__dlpack__(stream=stream)


def wave(count: int) -> np.ndarray:
    return np.sin(0.01 * np.arange(count)).astype(np.float32)


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "u1")])
def test_frames_in_any_buffer(form: Any) -> None:
    data = wave(5000)
    frame = form(thinwire.compress(data, "mpc"))
    assert thinwire.inspect(frame).raw_bytes == data.nbytes
    assert np.array_equal(thinwire.decompress(frame), data)


def test_arrays_of_other_libraries() -> None:
    data = wave(5000)
    frame = thinwire.compress(data, "mpc")
    assert thinwire.compress(OldProducer(data), "mpc") == frame
    assert thinwire.compress(array.array("f", data.tolist()), "mpc") == frame
    assert thinwire.compress(data.tobytes(), "mpc", dtype="f32") == frame


def test_out_is_written_and_returned() -> None:
    data = wave(5000)
    frame = thinwire.compress(data, "mpc")
    for out in (np.empty_like(data), bytearray(data.nbytes), np.empty((50, 100), np.float32)):
        assert thinwire.decompress(frame, out=out) is out
        assert bytes(memoryview(out).cast("B")) == data.tobytes()


@pytest.mark.parametrize(
    ("out", "error", "said"),
    [
        (np.empty(4999, np.float32), ValueError, "19996 bytes"),
        (np.empty(10000, np.float32)[::2], ValueError, "contiguous"),
        (bytes(20000), ValueError, "cannot be written"),
        ([0.0] * 2500, ValueError, "cannot be written"),
        (np.empty(2500), TypeError, "f64 elements"),
    ],
)
def test_out_that_does_not_fit_is_refused(out: Any, error: type, said: str) -> None:
    frame = thinwire.compress(wave(5000), "mpc")
    with pytest.raises(error, match=said):
        thinwire.decompress(frame, out=out)


def test_a_given_shape_is_the_frames() -> None:
    data = wave(6000)
    assert thinwire.inspect(thinwire.compress(data, "raw", shape=(20, 300))).shape == (20, 300)
    for shape in [(7,), (), (1, 1, 1, 1, 6000)]:
        with pytest.raises(ValueError, match="is not one of 6000 elements"):
            thinwire.compress(data, "raw", shape=shape)


@pytest.mark.parametrize(
    ("array", "error", "said"),
    [
        (OnOtherDevice(), TypeError, "out of reach"),
        (Claims(strides=(4, 16)), ValueError, "not contiguous"),
        (Claims(mask=Claims()), TypeError, "masked"),
        (np.array([object()]), TypeError, "no bytes"),
    ],
)
def test_arrays_that_cannot_be_read_are_refused(array: Any, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        thinwire.compress(array, "raw")


def test_a_wrong_dtype_is_refused() -> None:
    with pytest.raises(ValueError, match="no dtype 'f12'"):
        thinwire.compress(wave(4), "raw", dtype="f12")
    with pytest.raises(ValueError, match="no whole number of f64"):
        thinwire.compress(wave(5), "raw", dtype="f64")


def test_streams() -> None:
    class Torch:
        cuda_stream = 77

    class Cupy:
        ptr = 78

    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 79

    streams = (None, 0, 5, Torch(), Cupy(), Protocol())
    assert [stream_number(each) for each in streams] == [None, 1, 5, 77, 78, 79]
    for wrong in ("default", 1.5, True):
        with pytest.raises(TypeError, match="a stream of torch"):
            stream_number(wrong)


def test_our_gpu_arrays_describe_themselves() -> None:
    memory = HostMemory(np.zeros(48, np.uint8))
    ours = GpuArray(memory, (3, 4), "f32")
    said = ours.__cuda_array_interface__
    assert (said["version"], said["shape"], said["typestr"]) == (3, (3, 4), "<f4")
    assert said["data"] == (memory.pointer, False) and said["stream"] is None
    assert memory.shown
    assert ours.__dlpack_device__() == (dlpack.CUDA, 0)
    lent = dlpack.borrow(ours.__dlpack__(max_version=(1, 1)))
    assert (lent.device, lent.type, lent.shape) == ((dlpack.CUDA, 0), (2, 32), (3, 4))
    lent = dlpack.borrow(GpuArray(memory, (24,), "bf16").__dlpack__())
    assert lent.type == (4, 16)
    view = view_of(ours)
    assert (view.pointer, view.gpu, view.nbytes) == (memory.pointer, 0, 48)


def test_our_gpu_arrays_are_lent_not_copied() -> None:
    frame = Frame(HostMemory(np.zeros(8, np.uint8)), 8, info=None)
    assert frame.nbytes == 8 and frame.__cuda_array_interface__["typestr"] == "|u1"
    for words in ({"copy": True}, {"dl_device": (dlpack.CPU, 0)}):
        with pytest.raises(BufferError, match="lent"):
            frame.__dlpack__(**words)


def test_decoding_into_a_sum() -> None:
    values, total = wave(1000), np.ones(1000, np.float32)
    frame = thinwire.compress(values, "mpc")
    assert thinwire.decompress(frame, out=total, add=True, scale=0.5) is total
    np.testing.assert_array_equal(total, (np.float32(1) + values) * np.float32(0.5))
    with pytest.raises(ValueError, match="scale is 0"):
        thinwire.decompress(frame, out=total, add=True, scale=0)
    with pytest.raises(ValueError, match="add needs out"):
        thinwire.decompress(frame, add=True)
