"""Contexts: a process that works on one GPU makes none of another, which takes half a GiB there."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes
import sys
import cuda_driver
import numpy as np
from gpu_calls import DeviceBuffer, Scratch, encode, decode, shape_struct, bound
from thinwire import Codec
from thinwire.library import library

cuda_driver.use_gpu(1)
pinned = [Scratch.acquire(nbytes, None) for nbytes in (1 << 20, 64 << 20)]
values = np.arange(70001, dtype=np.float32)
codec, shape = Codec("mpc"), shape_struct("f32", values.shape)
source = DeviceBuffer(values, gpu=1)
frame = DeviceBuffer(bound(codec, shape), gpu=1)
status, written = encode(codec, shape, source.address, frame.address, frame.nbytes)
assert status == 0
assert decode(frame.address, written, source.address, source.nbytes) == 0
assert source.read().tobytes() == values.tobytes()
flags, active = ctypes.c_uint(), ctypes.c_int()
cuda_driver.call("cuDevicePrimaryCtxGetState", 0, ctypes.byref(flags), ctypes.byref(active))
sys.exit(active.value)
"""


@pytest.mark.several_gpus
def test_a_process_on_the_second_gpu_has_no_context_of_the_first(second_gpu: int) -> None:
    assert second_gpu == 1
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
