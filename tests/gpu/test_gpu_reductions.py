"""Reductions of GPU buffers between threads: the bits of host buffers, whatever the values."""

from dataclasses import dataclass
from typing import Any

import gpu_data
import numpy as np
import pytest
from test_gpu_communicator import RANKS, on_ranks

import thinwire
from thinwire import dtypes
from thinwire.gpu import GpuMemory, copy_bytes

# No multiple of what a vector, a warp or a codec's block holds.
COUNT = 20011

REDUCTIONS = [thinwire.SUM, thinwire.PROD, thinwire.MIN, thinwire.MAX]
FLOATS = ["f32", "f64", "f16", "bf16"]
CODERS = [
    *(("off", dtype) for dtype in FLOATS),
    *(("lorenzo", dtype) for dtype in FLOATS),
    *(("lossless:reductions=exact", dtype) for dtype in FLOATS),
    *(("szp:abs=1e-3", dtype) for dtype in ("f32", "f64")),
    *(("blockq:bits=8,block=32", dtype) for dtype in ("f32", "f16", "bf16")),
]


@dataclass
class Placed:
    """An array of `dtype` in GPU memory, `offset` bytes behind an aligned address."""

    memory: GpuMemory
    offset: int
    nbytes: int
    dtype: str

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self.memory.pointer + self.offset, False),
            "strides": None,
            "stream": None,
        }

    def values(self) -> np.ndarray:
        copied = self.memory.copy_to_host(self.offset + self.nbytes)[self.offset :]
        return copied.copy().view(dtypes.NUMPY[self.dtype])


def on_gpu(values: np.ndarray, dtype: str, offset: int = 0) -> list:
    memory = GpuMemory(offset + values.nbytes, 0)
    copy_bytes(memory.pointer + offset, values.ctypes.data, values.nbytes)
    return [Placed(memory, offset, values.nbytes, dtype), dtype]


def on_host(values: np.ndarray, dtype: str, _offset: int = 0) -> list:
    return [values.copy(), dtype]


def values_of(buffer: list) -> np.ndarray:
    array = buffer[0]
    return array if isinstance(array, np.ndarray) else array.values()


def bits_of(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.itemsize}")


def contribution(rank: int, dtype: str, count: int = COUNT) -> np.ndarray:
    """A wave with NaN, infinities, zeros of both signs and subnormals, and at its end the largest
    values that there are."""
    values = gpu_data.make("special", dtype, (count,), seed=rank + 1)
    huge = gpu_data.make("huge", dtype, (count,))
    values[-count // 8 :] = huge[-count // 8 :]
    return values


def reduce_all(comm, dtype: str, place, offsets: tuple[int, int]) -> list[np.ndarray]:
    """This rank's results of every reduction, by every operation that has one."""
    results = []
    for op in REDUCTIONS:
        send = place(contribution(comm.rank, dtype), dtype, offsets[0])
        blocks = place(contribution(comm.rank, dtype, COUNT * RANKS), dtype, offsets[0])
        for call, own in [
            (comm.Allreduce, send),
            (comm.Reduce, send),
            (comm.Reduce_scatter_block, blocks),
        ]:
            receive = place(np.zeros(COUNT, dtypes.NUMPY[dtype]), dtype, offsets[1])
            call(own, receive, op=op)
            results.append(values_of(receive))
        comm.Allreduce(thinwire.IN_PLACE, send, op=op)
        results.append(values_of(send))
    return results


def check_same(expected: list, found: list) -> None:
    for rank, (host, gpu) in enumerate(zip(expected, found, strict=True)):
        for number, (left, right) in enumerate(zip(host, gpu, strict=True)):
            name = f"rank {rank}, result {number}"
            np.testing.assert_array_equal(bits_of(left), bits_of(right), err_msg=name)


@pytest.mark.parametrize(("spec", "dtype"), CODERS)
def test_reductions_get_the_bits_that_host_buffers_get(spec, dtype):
    expected = on_ranks(spec, lambda comm: reduce_all(comm, dtype, on_host, (0, 0)))
    value = dtypes.NUMPY[dtype].itemsize
    # One value or one byte off: operands aligned alike, by words alone, and not at all.
    for offsets in [(0, 0), (value, 0), (value, value), (1, value)]:
        found = on_ranks(
            spec, lambda comm, offsets=offsets: reduce_all(comm, dtype, on_gpu, offsets)
        )
        check_same(expected, found)


ALLREDUCES = [each[1:] for each in thinwire.schedules() if each[0] == "allreduce"]


@pytest.mark.parametrize("schedule", ALLREDUCES, ids="-".join)
@pytest.mark.parametrize("spec", ["off", "lorenzo"])
def test_every_schedule_reduces_on_a_gpu(spec, schedule):
    algorithm, coding = schedule

    def body(comm, place):
        results = []
        for op in REDUCTIONS:
            send = place(contribution(comm.rank, "f32"), "f32", 4)
            receive = place(np.zeros(COUNT, np.float32), "f32", 4)
            comm.Allreduce(send, receive, op=op, algorithm=algorithm, coding=coding)
            results.append(values_of(receive))
        return results

    nodes = [rank // 2 for rank in range(RANKS)]
    expected = on_ranks(spec, lambda comm: body(comm, on_host), nodes=nodes)
    check_same(expected, on_ranks(spec, lambda comm: body(comm, on_gpu), nodes=nodes))


@pytest.mark.parametrize("spec", ["off", "mpc"])
@pytest.mark.parametrize(("of", "to"), [(on_gpu, on_host), (on_host, on_gpu)], ids=["to", "from"])
def test_operands_on_both_sides(of, to, spec):
    def body(comm, of, to):
        results = []
        for op in REDUCTIONS:
            receive = to(np.zeros(COUNT, np.float32), "f32")
            comm.Allreduce(of(contribution(comm.rank, "f32"), "f32"), receive, op=op)
            results.append(values_of(receive))
        return results

    expected = on_ranks(spec, lambda comm: body(comm, on_host, on_host))
    check_same(expected, on_ranks(spec, lambda comm: body(comm, of, to)))


@pytest.mark.parametrize("spec", ["szp:allreduce-rel=1e-4", "szp:allreduce-abs=1e-2"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("count", [2, 33, 8191, 300007])
def test_bounds_of_results_are_those_of_host_buffers(count, dtype, spec):
    """What is shared out depends on every rank's largest value and range, exactly."""

    def body(comm, place, offset):
        values = gpu_data.make("special", dtype, (count,), seed=comm.rank + 1)
        values[count // 3] = 10 + comm.rank
        values[count // 2] = -7
        send = place(values, dtype, offset)
        receive = place(np.zeros(count, dtypes.NUMPY[dtype]), dtype, offset)
        report = comm.Allreduce(send, receive)
        assert report.compressed, report.why_raw
        return values_of(receive), np.array([report.bound])

    expected = on_ranks(spec, lambda comm: body(comm, on_host, 0))
    assert expected[0][1] > 0
    for offset in (0, dtypes.NUMPY[dtype].itemsize):
        found = on_ranks(spec, lambda comm, offset=offset: body(comm, on_gpu, offset))
        check_same(expected, found)
