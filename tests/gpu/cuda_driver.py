"""What the GPU tests need of CUDA itself, through the driver's C interface: no package needed."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import SkipTest

NON_BLOCKING = 1
CAPTURE_THREAD_LOCAL = 1
ATTACH_GLOBAL = 1
NOT_SUPPORTED = 801


class CudaError(Exception):
    """A call of the driver failed."""


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: Any) -> None:
    code = getattr(_driver(), name)(*arguments)
    if code == NOT_SUPPORTED:
        raise SkipTest(f"no {name} here")
    if code != 0:
        raise CudaError(f"{name} returned {code}")


def use_gpu(ordinal: int) -> None:
    """Make the primary context of a GPU the thread's current one."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), ordinal)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)


class Stream:
    """A stream that waits for no other; on the current GPU."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(self.handle), NON_BLOCKING)

    @property
    def number(self) -> int:
        return self.handle.value or 0

    def finish(self) -> None:
        call("cuStreamSynchronize", self.handle)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Enqueue a copy between any two places."""
        size = ctypes.c_size_t(nbytes)
        call("cuMemcpyAsync", ctypes.c_uint64(target), ctypes.c_uint64(source), size, self.handle)

    def fill(self, target: int, value: int, nbytes: int) -> None:
        """Enqueue setting bytes."""
        size = ctypes.c_size_t(nbytes)
        call("cuMemsetD8Async", ctypes.c_uint64(target), ctypes.c_ubyte(value), size, self.handle)

    def close(self) -> None:
        call("cuStreamDestroy_v2", self.handle)


@contextmanager
def stream() -> Iterator[Stream]:
    made = Stream()
    try:
        yield made
    finally:
        made.finish()
        made.close()


class Graph:
    """A captured graph, ready to run."""

    def __init__(self, captured: ctypes.c_void_p) -> None:
        self.handle = ctypes.c_void_p()
        flags = ctypes.c_uint64(0)
        call("cuGraphInstantiateWithFlags", ctypes.byref(self.handle), captured, flags)
        call("cuGraphDestroy", captured)

    def launch(self, on: Stream) -> None:
        call("cuGraphLaunch", self.handle, on.handle)

    def close(self) -> None:
        call("cuGraphExecDestroy", self.handle)


class Capture:
    """Everything that is enqueued on a stream between `begin` and `end`."""

    def __init__(self, on: Stream) -> None:
        self._stream = on
        call("cuStreamBeginCapture_v2", on.handle, CAPTURE_THREAD_LOCAL)

    def end(self) -> Graph:
        """CudaError where the capture was broken."""
        captured = ctypes.c_void_p()
        call("cuStreamEndCapture", self._stream.handle, ctypes.byref(captured))
        return Graph(captured)


@contextmanager
def managed(nbytes: int) -> Iterator[int]:
    """Memory that migrates; its address."""
    pointer = ctypes.c_uint64()
    call("cuMemAllocManaged", ctypes.byref(pointer), ctypes.c_size_t(nbytes), ATTACH_GLOBAL)
    try:
        yield pointer.value
    finally:
        call("cuMemFree_v2", pointer)


@contextmanager
def device(nbytes: int) -> Iterator[int]:
    """Memory of the current GPU that is not the library's own; its address."""
    pointer = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(nbytes))
    try:
        yield pointer.value
    finally:
        call("cuMemFree_v2", pointer)


@contextmanager
def other_context(nbytes: int) -> Iterator[int]:
    """Memory of a context of GPU 0 that is not its primary one; the primary is current."""
    context, gpu, pointer = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_uint64()
    call("cuDeviceGet", ctypes.byref(gpu), 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, gpu)
    try:
        call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(nbytes))
        use_gpu(0)
        yield pointer.value
    finally:
        call("cuCtxDestroy_v2", context)
        use_gpu(0)


@contextmanager
def pinned(nbytes: int) -> Iterator[int]:
    """Page-locked host memory; its address."""
    pointer = ctypes.c_void_p()
    call("cuMemHostAlloc", ctypes.byref(pointer), ctypes.c_size_t(nbytes), 0)
    try:
        yield pointer.value or 0
    finally:
        call("cuMemFreeHost", pointer)
