"""Run by mpirun: Thinwire's collectives beside mpi4py's own, with the same buffers."""

import functools
import sys

import numpy as np
from mpi4py import MPI

import thinwire

COUNT = 60000


def smooth(count: int, rank: int) -> np.ndarray:
    return np.sin(0.01 * np.arange(count) + rank).astype(np.float32)


def whole(count: int, rank: int) -> np.ndarray:
    return ((np.arange(count) // 7 + 3 * rank) % 23).astype(np.float64)


def calls_of(comm) -> dict:
    """Every call with the very same words to both, on values that sum up exactly."""
    rank, size, root = comm.rank, comm.size, comm.size - 1
    is_root = rank == root
    own, wide = whole(COUNT, rank), whole(COUNT * size, rank)
    counts = [1000 + 10 * each for each in range(size)]
    places = [2000 * (size - each) for each in range(size)]
    reach = 2000 * (size + 1)
    assert reach <= COUNT * size
    return {
        "Bcast": lambda c, r: c.Bcast([r, COUNT, MPI.DOUBLE], root=root),
        "Allgather": lambda c, r: c.Allgather(own, r),
        "Allgatherv": lambda c, r: c.Allgatherv(
            own[: counts[rank]], [r, counts, places, MPI.DOUBLE]
        ),
        "Gather": lambda c, r: c.Gather([own, MPI.DOUBLE], r if is_root else None, root),
        "Gatherv": lambda c, r: c.Gatherv(
            [own, counts[rank]], [r, (counts, places)] if is_root else None, root=root
        ),
        "Scatter": lambda c, r: c.Scatter(
            wide if is_root else None, MPI.IN_PLACE if is_root else r[:COUNT], root
        ),
        "Scatterv": lambda c, r: c.Scatterv(
            [wide, counts, places, MPI.DOUBLE] if is_root else None, [r, counts[rank]], root
        ),
        "Alltoall": lambda c, r: c.Alltoall([wide, COUNT], [r, COUNT]),
        "Alltoallv": lambda c, r: c.Alltoallv(
            [wide, [counts[rank]] * size], [r, counts, places, MPI.DOUBLE]
        ),
        "Reduce": lambda c, r: c.Reduce(own, r[:COUNT] if is_root else None, MPI.SUM, root),
        "Allreduce": lambda c, r: c.Allreduce(MPI.IN_PLACE, r, op=MPI.MAX),
        "Reduce_scatter_block": lambda c, r: c.Reduce_scatter_block(wide, r[:COUNT]),
        "Reduce_scatter": lambda c, r: c.Reduce_scatter(
            wide[: sum(counts)], [r, counts[rank]], counts, MPI.MIN
        ),
    }


def check_same(comm, ours, name, call) -> None:
    results = []
    for each in (comm, ours):
        result = whole(COUNT * comm.size, comm.rank + 1)
        call(each, result)
        results.append(result)
    assert np.array_equal(*results), name


def same_as_mpi(comm, ours) -> None:
    calls = calls_of(comm)
    for name, call in calls.items():
        check_same(comm, ours, name, call)
    if comm.rank == 0:
        print(f"{len(calls)} calls agree")


class By:
    """A communicator whose calls go a certain way."""

    def __init__(self, comm, **how):
        self.comm, self.how = comm, how

    def __getattr__(self, name):
        return functools.partial(getattr(self.comm, name), **self.how)


def two_levels(comm, codec) -> None:
    """Every schedule of two levels by its name, on nodes of one size and of two."""
    rows = [row for row in thinwire.schedules() if row[2] == "two-level"]
    for nodes in ([rank // 2 for rank in range(comm.size)], [0] * (comm.size - 1) + [1]):
        with thinwire.Communicator(comm, codec=codec, threshold=0, nodes=nodes) as ours:
            for operation, algorithm, coding in rows:
                by_name = By(ours, algorithm=algorithm, coding=coding)
                for name, call in calls_of(comm).items():
                    if operation_of(name) != operation:
                        continue
                    check_same(comm, by_name, f"{name}, {algorithm}", call)
                    report = ours.last_report
                    assert (report.algorithm, report.coding) == (algorithm, coding), name
                    assert report.compressed == (len(set(nodes)) > 1), name
    assert {row[0] for row in rows} == {operation_of(name) for name in calls_of(comm)}
    if comm.rank == 0:
        print("two levels agree")


def operation_of(name: str) -> str:
    return name.lower().replace("_", "-").removesuffix("-block").removesuffix("v")


def lossy_and_reported(comm, ours) -> None:
    array = smooth(COUNT, 0) if comm.rank == 0 else np.zeros(COUNT, np.float32)
    report = ours.Bcast(array, codec="zfp:rate=8")
    assert report.compressed and np.abs(array - smooth(COUNT, 0)).max() < 0.05
    kept, *received = comm.allgather(array.tobytes())
    assert kept == smooth(COUNT, 0).tobytes() and len(set(received)) <= 1
    wire, raw = comm.allreduce(report.wire_bytes), comm.allreduce(report.raw_bytes)
    assert 3.5 < raw / wire <= 4
    if comm.rank == 0:
        print("compressed")


def refused(comm) -> None:
    """Different codecs, on every rank in words; and no intercommunicators."""
    try:
        thinwire.Communicator(comm, codec="zfp:rate=8" if comm.rank else "zfp:rate=16")
    except thinwire.ThinwireError as error:
        words = str(error)
    assert "zfp:rate=8" in words and "zfp:rate=16" in words
    half = comm.Split(comm.rank % 2)
    between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
    try:
        thinwire.Communicator(between)
    except ValueError as error:
        assert "intercommunicator" in str(error)
    between.Free()
    half.Free()
    if comm.rank == 0:
        print("refused")


def main() -> None:
    world = MPI.COMM_WORLD
    # On one node nothing would be compressed.
    apart = list(range(world.size))
    ours = thinwire.Communicator(world, codec=sys.argv[1], threshold=0, nodes=apart)
    assert (ours.rank, ours.size) == (world.rank, world.size)
    same_as_mpi(world, ours)
    lossy_and_reported(world, ours)
    two_levels(world, sys.argv[1])
    # A group in another order, made and closed while the first is in use.
    turned = world.Split(0, key=-world.rank)
    with thinwire.Communicator(turned, codec="off") as other:
        block = np.full(1, world.rank, np.int64)
        found = np.zeros(world.size, np.int64)
        other.Allgather(block, found)
        assert found.tolist() == list(range(world.size))[::-1]
    turned.Free()
    refused(world)
    with thinwire.Communicator(world, codec=sys.argv[1], threshold=0) as together:
        assert together.Bcast(smooth(COUNT, 0)).why_raw
    # Left open: it is closed before mpi4py ends MPI.


main()
