"""The one thing that the library's interface has no call for: waiting for a GPU."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def _driver() -> Any:
    """libcuda, or None where there is none."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def wait_for_gpu(gpu: int) -> bool:
    """Wait until all work on a GPU has run. False where that cannot be done now, as while a
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
