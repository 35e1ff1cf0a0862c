"""Calls NCCL on PyTorch tensors in both ways of one process: by torch.distributed, and by ctypes as
packages beside PyTorch do, `ctypes.CDLL("libnccl.so.2")`. It knows nothing of Thinwire, checks all
values and prints "ok".

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are as torchrun sets them; all ranks use GPU 0.
"""

import ctypes
import os

import torch
import torch.distributed as dist

CALLS, COUNT = 340, 1 << 18
FLOAT32, SUM = 7, 0
DEVICE = torch.device("cuda", 0)


class UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_byte * 128),)


def load() -> ctypes.CDLL:
    nccl = ctypes.CDLL("libnccl.so.2")
    handle, number = ctypes.c_void_p, ctypes.c_int
    nccl.ncclGetUniqueId.argtypes = [ctypes.POINTER(UniqueId)]
    nccl.ncclCommInitRank.argtypes = [handle, number, UniqueId, number]
    nccl.ncclAllReduce.argtypes = [handle, handle, ctypes.c_size_t, number, number, handle, handle]
    nccl.ncclCommDestroy.argtypes = [handle]
    return nccl


def unique_id(nccl: ctypes.CDLL) -> UniqueId:
    """Rank 0's, by way of the other communicator."""
    unique = UniqueId()
    if dist.get_rank() == 0:
        assert nccl.ncclGetUniqueId(ctypes.byref(unique)) == 0
    text = torch.tensor(list(bytes(unique)), dtype=torch.uint8, device=DEVICE)
    dist.broadcast(text, 0)
    return UniqueId.from_buffer_copy(bytes(text.tolist()))


def main() -> None:
    torch.cuda.set_device(DEVICE)
    dist.init_process_group("nccl", device_id=DEVICE)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    nccl = load()
    comm = ctypes.c_void_p()
    assert nccl.ncclCommInitRank(ctypes.byref(comm), ranks, unique_id(nccl), rank) == 0
    # Sums of whole numbers, exact in any order.
    whole = torch.arange(COUNT, device=DEVICE, dtype=torch.float32).div(64).floor() + rank
    expected = sum(whole - rank + other for other in range(ranks))
    stream = torch.cuda.current_stream().cuda_stream
    for _ in range(CALLS):
        by_torch, by_ctypes = whole.clone(), torch.zeros_like(whole)
        dist.all_reduce(by_torch)
        places = (whole.data_ptr(), by_ctypes.data_ptr())
        assert nccl.ncclAllReduce(*places, COUNT, FLOAT32, SUM, comm, stream) == 0
        assert torch.equal(by_torch, expected) and torch.equal(by_ctypes, expected)
    assert nccl.ncclCommDestroy(comm) == 0
    dist.destroy_process_group()
    # The library's report is written at exit.
    print("ok", flush=True)


if __name__ == "__main__":
    assert "RANK" in os.environ
    main()
