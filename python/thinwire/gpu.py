"""GPU memory of our own, the arrays and frames in it, and waiting for a GPU."""

import ctypes
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from thinwire import dlpack, dtypes
from thinwire.library import check, ffi, ffi_new, library

# GPU and address of what has yet to go back to the pool: while a stream is being captured, nobody
# can wait for the work that others may have on it.
_parked: "deque[tuple[int, Any]]" = deque()


def _take_all(queue: "deque[tuple[int, Any]]") -> list[tuple[int, Any]]:
    taken = []
    try:
        while True:
            taken.append(queue.popleft())
    except IndexError:
        return taken


class GpuMemory:
    """`nbytes` bytes on a GPU, from the library's pool, given back when this object goes.

    Once others were shown the memory (`shown`), it goes back only after all work on the GPU has
    run: they may have enqueued work on it that nobody here knows of.
    """

    def __init__(self, nbytes: int, gpu: int) -> None:
        """Raises ThinwireError (TW_DEVICE) if the GPU refuses."""
        self.nbytes, self.gpu, self.shown = nbytes, gpu, False
        self.pointer = 0
        lib = library()
        out = ffi_new("void **")
        check(lib.tw_scratch_acquire(lib.TW_MEMORY_DEVICE, gpu, max(1, nbytes), out))
        self.pointer = int(ffi.cast("uintptr_t", out[0]))

    def __del__(self) -> None:
        if not self.pointer:
            return
        scratch = ffi.cast("void *", self.pointer)
        if not self.shown:
            library().tw_scratch_release(scratch)
            return
        # Objects die at any time, in any thread and inside this very function: hence no lock, and
        # nothing but single steps on the deque.
        _parked.append((self.gpu, scratch))
        taken = _take_all(_parked)
        done = {gpu: wait_for_gpu(gpu) for gpu in {gpu for gpu, _ in taken}}
        for gpu, each in taken:
            if done[gpu]:
                library().tw_scratch_release(each)
            else:
                _parked.append((gpu, each))

    def copy_to_host(self, nbytes: int) -> np.ndarray:
        """The first `nbytes` bytes."""
        host = np.empty(nbytes, np.uint8)
        copy_bytes(host.ctypes.data, self.pointer, nbytes)
        return host


def copy_bytes(target: int, source: int, nbytes: int) -> None:
    """Copy between any two places; complete on return, after no earlier work."""
    if nbytes:
        to, of = ffi.cast("void *", target), ffi.cast("void *", source)
        check(library().tw_memory_copy(to, of, nbytes))


class GpuArray:
    """A contiguous array on a GPU: what a frame there decodes to.

    `torch.from_dlpack(array)` and `cupy.asarray(array)` make arrays of the same memory, which
    lives until the last of them is gone. `dtype` is a name as in `MessageInfo.dtype`; bf16 is bf16
    through DLPack, and 16-bit words where numpy's types are used; 8-bit floats are likewise theirs,
    where the other side's DLPack has them, and bytes.
    """

    def __init__(self, memory: GpuMemory, shape: tuple[int, ...], dtype: str) -> None:
        self._memory, self.shape, self.dtype = memory, shape, dtype

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=object)) * dtypes.NUMPY[self.dtype].itemsize

    @property
    def gpu(self) -> int:
        """The GPU's ordinal."""
        return self._memory.gpu

    @property
    def pointer(self) -> int:
        """The address on the GPU."""
        return self._memory.pointer

    def numpy(self) -> np.ndarray:
        """A copy in host memory (bf16: 16-bit words)."""
        data = self._memory.copy_to_host(self.nbytes)
        return data.view(dtypes.NUMPY[self.dtype]).reshape(self.shape)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        self._memory.shown = True
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": dtypes.NUMPY[self.dtype].str,
            "data": (self.pointer if self.nbytes else 0, False),
            "strides": None,
            "stream": None,  # complete: nothing to wait for
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.gpu

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A capsule; `stream` needs no waiting, as the array is complete."""
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("the memory is lent, not copied: use .numpy() for a host copy")
        self._memory.shown = True
        return dlpack.lend(
            self._memory,
            self.pointer,
            self.__dlpack_device__(),
            dtypes.to_dlpack(self.dtype),
            self.shape,
            versioned=max_version is not None and max_version[0] >= dlpack.MAJOR,
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype}, {self.shape}, gpu={self.gpu})"


class Frame(GpuArray):
    """A frame on a GPU, as an array of its bytes."""

    def __init__(self, memory: GpuMemory, nbytes: int, info: Any) -> None:
        super().__init__(memory, (nbytes,), "bytes")
        self.info = info  # MessageInfo

    def to_bytes(self) -> bytes:
        """The frame in host memory, the same bytes as of the same array there."""
        return self.numpy().tobytes()

    def __repr__(self) -> str:
        return f"Frame({self.info.spec}, {self.info.raw_bytes} as {self.nbytes}, gpu={self.gpu})"


# The driver itself waits: the library's interface has no call for that.


@cache
def _driver() -> Any:
    """libcuda, or None if there is none."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def wait_for_gpu(gpu: int) -> bool:
    """Wait until all work on a GPU has run. False if that cannot be done now, as while a
    stream is being captured."""
    return _in_context(gpu, lambda driver: driver.cuCtxSynchronize())


def wait_for_stream(gpu: int, stream: int) -> bool:
    """Wait until the work on one stream of a GPU has run; else as wait_for_gpu()."""
    return _in_context(gpu, lambda driver: driver.cuStreamSynchronize(ctypes.c_void_p(stream)))


def _in_context(gpu: int, call: Callable[[Any], int]) -> bool:
    """Whether a call of the driver succeeded in the GPU's primary context."""
    driver = _driver()
    if driver is None:
        return False
    device, context, popped = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuDeviceGet(ctypes.byref(device), gpu):
        return False
    if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device):
        return False
    try:
        if driver.cuCtxPushCurrent_v2(context):
            return False
        done = call(driver) == 0
        driver.cuCtxPopCurrent_v2(ctypes.byref(popped))
        return done
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(device)
