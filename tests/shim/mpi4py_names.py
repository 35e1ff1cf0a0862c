"""What mpi4py does with the names that it finds: calls for large counts, non-blocking reductions,
windows, sessions. Prints `all right` on each rank."""

import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def objects() -> None:
    """Pickled: their lengths travel first, as counts of the calls for large counts."""
    everyone = [{"rank": other, "text": "x" * other} for other in range(size)]
    assert comm.allgather(everyone[rank]) == everyone
    assert comm.gather(everyone[rank], root=size - 1) == (everyone if rank == size - 1 else None)
    assert comm.scatter(everyone if rank == 0 else None, root=0) == everyone[rank]
    assert comm.alltoall([(rank, other) for other in range(size)]) == [
        (other, rank) for other in range(size)
    ]
    assert comm.bcast(everyone if rank == 0 else None, root=0) == everyone
    assert comm.allreduce(rank + 1) == size * (size + 1) // 2
    assert (
        comm.sendrecv(everyone[rank], (rank + 1) % size, source=(rank - 1) % size)
        == (everyone[(rank - 1) % size])
    )


def numbers() -> None:
    own, found = array.array("d", [rank + 1.0] * 100), array.array("d", [0.0] * 100)
    comm.Iallreduce(own, found).Wait()
    assert set(found) == {size * (size + 1) / 2}
    comm.Ibcast(own, root=0).Wait()
    assert set(own) == {1.0}
    requests = [comm.Isend(own, (rank + 1) % size), comm.Irecv(found, (rank - 1) % size)]
    while not MPI.Request.Testall(requests):
        pass
    assert found == own


def window() -> None:
    shared = MPI.Win.Allocate(4096, 8, comm=comm)
    mine = array.array("q", [rank + 7])
    shared.Fence()
    for other in range(size):
        shared.Put(mine, other, target=rank)
    shared.Fence()
    written = array.array("q", [0] * size)
    shared.Get(written, rank)
    shared.Fence(MPI.MODE_NOSUCCEED)
    shared.Free()
    assert list(written) == [other + 7 for other in range(size)]


def newer() -> None:
    """Calls that not every MPI has: mpi4py says which it lacks."""
    own, found = array.array("d", [rank + 1.0] * 50), array.array("d", [0.0] * 50)
    for call in (persistent, both_ways, session):
        try:
            call(own, found)
        except NotImplementedError:
            continue


def persistent(own: "array.array[float]", found: "array.array[float]") -> None:
    request = comm.Allreduce_init(own, found)
    for _ in range(2):
        request.Start()
        request.Wait()
        assert set(found) == {size * (size + 1) / 2}
    request.Free()


def both_ways(own: "array.array[float]", found: "array.array[float]") -> None:
    comm.Isendrecv(own, (rank + 1) % size, 0, found, (rank - 1) % size, 0).Wait()
    assert set(found) == {(rank - 1) % size + 1.0}


def session(own: "array.array[float]", found: "array.array[float]") -> None:
    opened = MPI.Session.Init()
    assert opened.Get_num_psets() > 0
    opened.Finalize()


objects()
numbers()
window()
newer()
print("all right", flush=True)
