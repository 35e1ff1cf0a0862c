"""Collectives between threads whose buffers lie on a GPU: the same bits as from host memory."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import thinwire
from thinwire import dtypes
from thinwire.gpu import GpuArray, GpuMemory, copy_bytes

COUNT = 70001
RANKS = 4
SECONDS = 120.0


def to_gpu(values: np.ndarray, dtype: str = "f32") -> GpuArray:
    memory = GpuMemory(values.nbytes, 0)
    copy_bytes(memory.pointer, values.ctypes.data, values.nbytes)
    return GpuArray(memory, values.shape, dtype)


def smooth(count: int, rank: int, dtype: str) -> np.ndarray:
    values = np.sin(0.01 * np.arange(count) + rank)
    return np.round(64 * values).astype(dtypes.NUMPY[dtype])


def on_ranks(spec: str, body, **options) -> list:
    """What `body` leaves on each rank of a new group; an assertion fails where one hangs."""
    comms = thinwire.local_ranks(RANKS, codec=spec, threshold=0, **options)
    results: list = [None] * RANKS

    def run(rank: int) -> None:
        try:
            results[rank] = body(comms[rank])
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(RANKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a rank hangs"
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def run_operation(comm, operation: str, dtype: str, place) -> np.ndarray | None:
    """One operation with buffers that `place` makes of arrays; this rank's result, on the host."""
    own = place(smooth(COUNT, comm.rank, dtype))
    wide = place(smooth(COUNT * RANKS, comm.rank, dtype))
    one = place(np.zeros(COUNT, dtypes.NUMPY[dtype]))
    many = place(np.zeros(COUNT * RANKS, dtypes.NUMPY[dtype]))
    calls = {
        "bcast": (lambda: comm.Bcast(own, root=1), own),
        "allgather": (lambda: comm.Allgather(own, many), many),
        "gather": (lambda: comm.Gather(own, many, root=1), many),
        "scatter": (lambda: comm.Scatter(wide, one, root=1), one),
        "alltoall": (lambda: comm.Alltoall(wide, many), many),
        "reduce": (lambda: comm.Reduce(own, one, root=1), one),
        "allreduce": (lambda: comm.Allreduce(own, one), one),
        "reduce-scatter": (lambda: comm.Reduce_scatter_block(wide, one), one),
        "in place": (lambda: comm.Allreduce(thinwire.IN_PLACE, own), own),
    }
    call, result = calls[operation]
    call()
    return result if isinstance(result, np.ndarray) else result.numpy()


OPERATIONS = (
    *("bcast", "allgather", "gather", "scatter", "alltoall"),
    *("reduce", "allreduce", "reduce-scatter", "in place"),
)


@pytest.mark.parametrize("spec", ["mpc", "zfp:rate=16", "szp:abs=1e-3"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_gpu_buffers_get_the_bits_that_host_buffers_get(operation, spec):
    on_host = on_ranks(spec, lambda comm: run_operation(comm, operation, "f32", np.copy))
    on_gpu = on_ranks(spec, lambda comm: run_operation(comm, operation, "f32", to_gpu))
    for rank, (host, gpu) in enumerate(zip(on_host, on_gpu, strict=True)):
        np.testing.assert_array_equal(host.view(np.uint32), gpu.view(np.uint32), err_msg=str(rank))


@pytest.mark.parametrize("dtype", ["f64", "f16"])
def test_other_types_add_up_on_a_gpu(dtype):
    def body(comm):
        return run_operation(comm, "allreduce", dtype, lambda array: to_gpu(array, dtype))

    expected = sum(smooth(COUNT, rank, dtype).astype(np.float64) for rank in range(RANKS))
    for result in on_ranks("off", body):
        np.testing.assert_array_equal(result.astype(np.float64), expected)


def test_a_gpu_array_may_meet_one_in_host_memory():
    """Of one call's buffers, and of the ranks' ones."""

    def body(comm):
        own, result = smooth(COUNT, comm.rank, "f32"), np.zeros(COUNT, np.float32)
        comm.Allreduce(to_gpu(own) if comm.rank % 2 else own, result)
        return result

    expected = sum(smooth(COUNT, rank, "f32") for rank in range(RANKS))
    for result in on_ranks("mpc", body):
        np.testing.assert_array_equal(result, expected)


# Contexts: a process that works on one GPU makes none of another, which takes half a GiB there.

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
