"""Messages and collectives of mpi4py on arrays of numpy, cupy or torch. Knows nothing of Thinwire:

mpirun -n 2 python exchange.py --array cupy                                     # a GPU-aware MPI
thinwire run --codec zfp:rate=16 -- mpirun -n 2 python exchange.py --array cupy # any MPI

Prints the largest error of what each rank received, and what the exchange took.
"""

import argparse
import sys
import time
from typing import Any

import numpy as np
from mpi4py import MPI


class Arrays:
    """Memory of one library: from numpy and back, and the end of what runs on its stream."""

    def __init__(self, name: str, rank: int) -> None:
        self.name = name
        if name == "cupy":
            import cupy

            cupy.cuda.Device(rank % cupy.cuda.runtime.getDeviceCount()).use()
            self.of, self.numpy = cupy.asarray, cupy.asnumpy
            self.finish = cupy.cuda.get_current_stream().synchronize
        elif name == "torch":
            import torch

            on_gpu = torch.cuda.is_available()
            place = f"cuda:{rank % torch.cuda.device_count()}" if on_gpu else "cpu"
            self.of = lambda array: torch.from_numpy(array).to(place)
            self.numpy = lambda tensor: tensor.cpu().numpy()
            self.finish = torch.cuda.synchronize if on_gpu else lambda: None
        else:
            self.of, self.numpy, self.finish = np.asarray, np.asarray, lambda: None


def field_of(rank: int, count: int) -> np.ndarray:
    return (np.sin(np.arange(count) * 1e-4) + rank).astype(np.float32)


def exchange(comm: Any, arrays: Arrays, count: int) -> float:
    """A ring of messages, a broadcast and a gather; the largest error of what came."""
    rank, size = comm.Get_rank(), comm.Get_size()
    mine, theirs = arrays.of(field_of(rank, count)), arrays.of(np.zeros(count, np.float32))
    root = arrays.of(field_of(size if rank == 0 else 0, count))
    everyone = arrays.of(np.zeros(size * count, np.float32))
    arrays.finish()  # MPI knows nothing of streams
    left, right = (rank - 1) % size, (rank + 1) % size
    comm.Sendrecv(mine, dest=right, recvbuf=theirs, source=left)
    comm.Bcast(root, root=0)
    comm.Allgather(mine, everyone)
    pairs = [
        (theirs, field_of(left, count)),
        (root, field_of(size, count)),
        (everyone, np.concatenate([field_of(each, count) for each in range(size)])),
    ]
    return max(float(np.abs(arrays.numpy(got) - want).max()) for got, want in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--array", choices=["numpy", "cupy", "torch"], default="numpy")
    parser.add_argument("--count", type=int, default=1 << 20, help="floats of a message")
    parser.add_argument("--within", type=float, default=0.0, help="error that is no failure")
    words = parser.parse_args()
    comm = MPI.COMM_WORLD
    arrays = Arrays(words.array, comm.Get_rank())
    exchange(comm, arrays, words.count)  # the first one makes connections
    comm.Barrier()
    begin = time.perf_counter()
    error = exchange(comm, arrays, words.count)
    seconds = comm.allreduce(time.perf_counter() - begin, MPI.MAX)
    error = comm.allreduce(error, MPI.MAX)
    if comm.Get_rank() == 0:
        print(f"{words.array}: {1e3 * seconds:.1f} ms, largest error {error:.3g}", flush=True)
    return 0 if error <= words.within else 1


if __name__ == "__main__":
    sys.exit(main())
