"""A sum over all ranks by Thinwire's own communicator, beside mpi4py's: no preload library.

mpirun -n 2 python communicator.py --array torch --codec szp:allreduce-abs=1e-4

The bound of the spec is one of the result, whatever the number of ranks. Prints what was sent.
"""

import argparse
import sys

import numpy as np
from exchange import Arrays, field_of
from mpi4py import MPI

import thinwire


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--array", choices=["numpy", "cupy", "torch"], default="numpy")
    parser.add_argument("--codec", default="szp:allreduce-abs=1e-4")
    parser.add_argument("--count", type=int, default=1 << 20, help="floats of the array")
    parser.add_argument("--within", type=float, default=1e-4, help="error that is no failure")
    parser.add_argument("--link", help="the network's rate: what does not pay goes raw")
    parser.add_argument("--one-machine", action="store_true", help="take each rank for a node")
    words = parser.parse_args()
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    arrays = Arrays(words.array, rank)
    mine, total = arrays.of(field_of(rank, words.count)), arrays.of(np.zeros(words.count, "f4"))
    arrays.finish()
    how = {"nodes": range(size)} if words.one_machine else {}
    with thinwire.Communicator(world, codec=words.codec, link=words.link, **how) as comm:
        report = comm.Allreduce(mine, total)
    exact = sum(field_of(each, words.count).astype("f8") for each in range(size))
    error = world.allreduce(float(np.abs(arrays.numpy(total) - exact).max()), MPI.MAX)
    if rank == 0:
        sent = f"{report.wire_bytes} bytes sent instead of {report.raw_bytes}"
        print(f"{words.array}: {sent}, largest error {error:.3g}", flush=True)
    return 0 if error <= words.within else 1


if __name__ == "__main__":
    sys.exit(main())
