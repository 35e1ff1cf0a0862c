"""The one thing that the library's interface has no call for: waiting for everything on a GPU."""

import ctypes
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
        done = driver.cuCtxSynchronize() == 0
        driver.cuCtxPopCurrent_v2(ctypes.byref(popped))
        return done
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(device)
