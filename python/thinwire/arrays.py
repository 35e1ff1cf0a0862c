"""What memory an array object has, whichever library made it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thinwire import dlpack, dtypes
from thinwire.gpu import GpuArray
from thinwire.library import check, ffi, library, new_struct

# cudaStreamLegacy: work on it comes after all that was enqueued on the default stream before.
DEFAULT_STREAM = 1

_GPU_DEVICES = (dlpack.CUDA, dlpack.CUDA_MANAGED)
_HOST_DEVICES = (dlpack.CPU, dlpack.CUDA_HOST)


@dataclass(frozen=True)
class ArrayView:
    """Contiguous memory of an array. `dtype` is "bytes" for anything that is no float; `shape` is
    in elements of `itemsize` bytes; `gpu` is the GPU's ordinal, None for host memory; `stream` is
    the one that the array's own library orders its work on, None if it does not say. `keeper`
    keeps the memory."""

    pointer: int
    shape: tuple[int, ...]
    dtype: str
    itemsize: int
    gpu: int | None
    read_only: bool
    stream: int | None
    keeper: object

    @property
    def count(self) -> int:
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        return self.count * self.itemsize


def stream_number(stream: Any) -> int | None:
    """A cudaStream_t as a number: of an int, of torch's stream (`.cuda_stream`), of cupy's
    (`.ptr`), or of any with `__cuda_stream__`. 0 is the legacy default stream, as in CUDA.
    TypeError for anything else."""
    if stream is None:
        return None
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):
        stream = getattr(stream, name, stream)
    if isinstance(stream, bool) or not isinstance(stream, int):
        raise TypeError(f"stream: a number, or a stream of torch's or cupy's, not {stream!r}")
    return stream or DEFAULT_STREAM


def view_of(array: Any, stream: int | None = None) -> ArrayView:
    """The memory of an array: one with `__dlpack__` or `__cuda_array_interface__`, numpy's, any
    buffer, or what numpy makes an array of.

    GPU arrays are ready for work on `stream`, by default the array's own or the legacy default
    stream. Host arrays that are not contiguous are copied. ValueError for GPU arrays that are not
    contiguous, TypeError for memory of other devices and for masked arrays.
    """
    if isinstance(array, np.ndarray):
        return _view_of_host(array)
    if isinstance(array, GpuArray):
        return _view_of_own(array)
    # DLPack first: a producer that works on streams of its own then waits for them.
    if hasattr(array, "__dlpack_device__") and hasattr(array, "__dlpack__"):
        return _view_of_dlpack(array, stream)
    if hasattr(array, "__cuda_array_interface__"):
        return _view_of_cuda(array)
    buffer = _buffer_of(array)
    if buffer is not None:
        return _view_of_host(np.asarray(buffer))
    # Whether that shares memory with it nobody says.
    return _view_of_host(np.asarray(array), copied=True)


def _buffer_of(array: Any) -> memoryview | None:
    try:
        return memoryview(array)
    except TypeError:
        return None


def _view_of_host(array: np.ndarray, copied: bool = False) -> ArrayView:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            "a masked array's mask would be lost: pass its .filled() or .data, and the mask apart"
        )
    if array.dtype.hasobject:
        raise TypeError("an array of Python objects has no bytes to compress")
    data = np.ascontiguousarray(array)
    return ArrayView(
        pointer=data.ctypes.data,
        shape=array.shape,  # contiguous data has one axis at least
        dtype=dtypes.name_of(data),
        itemsize=data.dtype.itemsize,
        gpu=None,
        # A copy would be written to and forgotten.
        read_only=copied or not array.flags.c_contiguous or not data.flags.writeable,
        stream=None,
        keeper=data,
    )


def _view_of_own(array: GpuArray) -> ArrayView:
    return ArrayView(
        pointer=array.pointer,
        shape=array.shape,
        dtype=array.dtype,
        itemsize=dtypes.NUMPY[array.dtype].itemsize,
        gpu=array.gpu,
        read_only=False,
        stream=None,
        keeper=array,
    )


def _view_of_dlpack(array: Any, stream: int | None) -> ArrayView:
    kind = int(array.__dlpack_device__()[0])
    if kind not in _GPU_DEVICES + _HOST_DEVICES:
        raise TypeError(f"memory of DLPack device type {kind} is out of reach: CPU or CUDA only")
    on_gpu = kind in _GPU_DEVICES
    lent = dlpack.request(array, (stream or DEFAULT_STREAM) if on_gpu else None)
    code, bits = lent.type
    if bits % 8:
        raise TypeError(f"elements of {bits} bits are no whole bytes")
    if not on_gpu and not _is_contiguous(lent.shape, lent.strides, 1):
        return _view_of_copy(array)
    _check_contiguous(lent.shape, lent.strides, 1)
    return ArrayView(
        pointer=lent.pointer,
        shape=lent.shape,
        dtype=dtypes.name_of_dlpack(code, bits),
        itemsize=bits // 8,
        gpu=lent.device[1] if on_gpu else None,
        read_only=lent.read_only,
        stream=None,  # the producer has made its work come before ours
        keeper=(array, lent),
    )


def _view_of_copy(array: Any) -> ArrayView:
    """Of host memory that is not contiguous."""
    copy = array.contiguous() if hasattr(array, "contiguous") else np.array(np.from_dlpack(array))
    return replace(view_of(copy), read_only=True)


def _view_of_cuda(array: Any) -> ArrayView:
    """`__cuda_array_interface__`, version 3 or below."""
    said = array.__cuda_array_interface__
    if said.get("mask") is not None:
        raise TypeError("masked arrays have no memory of their own to compress")
    item = np.dtype(said["typestr"])
    pointer, read_only = said["data"]
    shape = tuple(said["shape"])
    _check_contiguous(shape, said.get("strides"), item.itemsize)
    pointer = pointer or 0
    return ArrayView(
        pointer=pointer,
        shape=shape,
        dtype=dtypes.name_of_numpy(item),
        itemsize=item.itemsize,
        gpu=gpu_of(pointer) if pointer else 0,
        read_only=bool(read_only),
        stream=said.get("stream"),
        keeper=array,
    )


def gpu_of(pointer: int) -> int:
    """The GPU whose memory `pointer` is; TypeError for host memory."""
    lib = library()
    place = new_struct("tw_place")
    check(lib.tw_place_of(ffi.cast("void *", pointer), place))
    if place.memory not in (lib.TW_MEMORY_DEVICE, lib.TW_MEMORY_MANAGED):
        raise TypeError(f"0x{pointer:x} is no GPU memory, though its array says so")
    return place.device


def _check_contiguous(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, expected: int
) -> None:
    """ValueError unless `strides` are those of C order with `expected` for the last axis."""
    if not _is_contiguous(shape, strides, expected):
        raise ValueError(
            "the array is not contiguous in C order: pass a contiguous copy, as "
            ".contiguous() (torch) or cupy.ascontiguousarray() make"
        )


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, expected: int) -> bool:
    if strides is None or 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True
