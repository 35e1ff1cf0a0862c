"""Under the preload library, over the NCCL of tests/nccl: two ranks, threads of this process, that
make a communicator of each configuration that preload_config.py printed, and add up on it. Prints
what thinwire reads of the library's counters.

    preload_ranks.py LIBNCCL JSON
"""

import ctypes
import json
import sys
from threading import Thread
from typing import Any

from thinwire.statistics import nccl_report, preload_is_loaded

NAME_AT = 48

RANKS, CALLS, COUNT, FLOAT32, SUM = 2, 200, 20_000, 7, 0


class UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_byte * 128),)


def load() -> ctypes.CDLL:
    nccl = ctypes.CDLL(sys.argv[1])
    handle, number = ctypes.c_void_p, ctypes.c_int
    nccl.ncclGetUniqueId.argtypes = [ctypes.POINTER(UniqueId)]
    nccl.ncclCommInitRankConfig.argtypes = [handle, number, UniqueId, number, handle]
    nccl.ncclAllReduce.argtypes = [handle, handle, ctypes.c_size_t, number, number, handle, handle]
    for name in ("ncclCommDestroy", "cudaStreamCreate", "cudaStreamSynchronize"):
        getattr(nccl, name).argtypes = [handle]
    return nccl


def work(nccl: Any, unique: UniqueId, rank: int, config: bytes, name: bytes) -> None:
    comm, stream = ctypes.c_void_p(), ctypes.c_void_p()
    text, head = ctypes.create_string_buffer(name), ctypes.create_string_buffer(config)
    at = ctypes.addressof(head)
    ctypes.c_void_p.from_address(at + NAME_AT).value = ctypes.addressof(text)
    nccl.cudaStreamCreate(ctypes.byref(stream))
    assert nccl.ncclCommInitRankConfig(ctypes.byref(comm), RANKS, unique, rank, at) == 0
    values = (ctypes.c_float * COUNT)()
    for _ in range(CALLS):
        for at_value in range(0, COUNT, 997):
            values[at_value] = rank + at_value % 50
        assert nccl.ncclAllReduce(values, values, COUNT, FLOAT32, SUM, comm, stream) == 0
        nccl.cudaStreamSynchronize(stream)
    assert abs(values[997] - (2 * (997 % 50) + 1)) < 1, values[997]
    nccl.ncclCommDestroy(comm)


def main() -> None:
    assert preload_is_loaded() and nccl_report() == {}
    nccl, told = load(), json.loads(sys.argv[2])
    for name, config in told["configs"].items():
        unique = UniqueId()
        nccl.ncclGetUniqueId(ctypes.byref(unique))
        common = (bytes.fromhex(config), name.encode())
        ranks = [Thread(target=work, args=(nccl, unique, rank, *common)) for rank in range(RANKS)]
        for each in ranks:
            each.start()
        for each in ranks:
            each.join()
    print(json.dumps(nccl_report()))


if __name__ == "__main__":
    main()
