"""Two ranks, threads of this process, that call NCCL by ctypes as packages of Python's do:
`ctypes.CDLL("libnccl.so.2")`, which is what a module has loaded from a place of its own."""

import ctypes
import sys
from threading import Thread

RANKS = 2
CALLS = 340
COUNT = 20_000
FLOAT32 = 7


class UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_byte * 128),)


def load() -> ctypes.CDLL:
    ctypes.CDLL(sys.argv[1])
    nccl = ctypes.CDLL("libnccl.so.2")
    handle, count = ctypes.c_void_p, ctypes.c_size_t
    nccl.ncclGetUniqueId.argtypes = [ctypes.POINTER(UniqueId)]
    nccl.ncclCommInitRank.argtypes = [handle, ctypes.c_int, UniqueId, ctypes.c_int]
    nccl.ncclAllGather.argtypes = [handle, handle, count, ctypes.c_int, handle, handle]
    nccl.ncclCommDestroy.argtypes = [handle]
    nccl.cudaStreamCreate.argtypes = [handle]
    nccl.cudaStreamSynchronize.argtypes = [handle]
    return nccl


def work(nccl: ctypes.CDLL, unique: UniqueId, rank: int, wrong: list[str]) -> None:
    comm, stream = ctypes.c_void_p(), ctypes.c_void_p()
    nccl.cudaStreamCreate(ctypes.byref(stream))
    if nccl.ncclCommInitRank(ctypes.byref(comm), RANKS, unique, rank) != 0:
        wrong.append("ncclCommInitRank")
        return
    floats = [[float(of * 1000 + at // 64) for at in range(COUNT)] for of in range(RANKS)]
    own = (ctypes.c_float * COUNT)(*floats[rank])
    expected = bytes((ctypes.c_float * (RANKS * COUNT))(*sum(floats, [])))
    for call in range(CALLS):
        gathered = (ctypes.c_float * (RANKS * COUNT))()
        if nccl.ncclAllGather(own, gathered, COUNT, FLOAT32, comm, stream) != 0:
            wrong.append(f"call {call}")
        nccl.cudaStreamSynchronize(stream)
        if bytes(gathered) != expected:
            wrong.append(f"values of call {call}")
    nccl.ncclCommDestroy(comm)


def main() -> None:
    nccl = load()
    version = ctypes.c_int()
    nccl.ncclGetVersion(ctypes.byref(version))
    unique = UniqueId()
    nccl.ncclGetUniqueId(ctypes.byref(unique))
    wrong: list[str] = [] if version.value > 20000 else ["ncclGetVersion"]
    ranks = [Thread(target=work, args=(nccl, unique, rank, wrong)) for rank in range(RANKS)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    print("ok" if not wrong else wrong[0])


if __name__ == "__main__":
    main()
