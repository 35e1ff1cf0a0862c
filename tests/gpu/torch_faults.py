"""What PyTorch does with NCCL beside training. It knows nothing of Thinwire but its report, which a
process that is aborted does not write, and prints lines of JSON.

    torch_faults.py stays-away   rank 0 stays away from an all_reduce, of which PyTorch's watchdog
                                 tells the others
    torch_faults.py graph        all_reduces that are captured into a graph, and replayed

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are as torchrun sets them; all ranks use GPU 0.
"""

import ctypes
import json
import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

DEVICE = torch.device("cuda", 0)
COUNT, CALLS, REPLAYS = 1 << 20, 300, 20
TIMEOUT_SECONDS, AWAY_SECONDS = 10, 45


def start() -> int:
    torch.cuda.set_device(DEVICE)
    dist.init_process_group("nccl", timeout=timedelta(seconds=TIMEOUT_SECONDS), device_id=DEVICE)
    return dist.get_rank()


def values(rank: int, step: int) -> torch.Tensor:
    made = torch.Generator(DEVICE).manual_seed(1000 * rank + step)
    return torch.randn(COUNT, generator=made, device=DEVICE)


def summed(given: torch.Tensor) -> torch.Tensor:
    total = given.clone()
    dist.all_reduce(total)
    return total


def become_known(given: torch.Tensor) -> None:
    """Until ranks have come to know such calls."""
    for call in range(CALLS):
        summed(given)
        if call % 16 == 15:
            torch.cuda.synchronize()


def report() -> str:
    """Of the preload library; nothing without it."""
    process, size = ctypes.CDLL(None), ctypes.c_uint64()
    if not hasattr(process, "tw_nccl_report"):
        return "{}"
    text = ctypes.create_string_buffer(1 << 20)
    process.tw_nccl_report(text, ctypes.c_uint64(len(text)), ctypes.byref(size))
    return text.value.decode()


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def stays_away(rank: int) -> None:
    # Few bits differ, so that they become smaller without loss.
    given = values(rank, 0).bfloat16().float()
    become_known(given)
    dist.barrier()
    say(known=True, report=json.loads(report()))
    if rank == 0:
        time.sleep(AWAY_SECONDS)
        os._exit(0)
    summed(given)
    torch.cuda.synchronize()
    # The call may be over before the watchdog has ended the process.
    time.sleep(AWAY_SECONDS - TIMEOUT_SECONDS)
    say(came_back=True)


def graph(rank: int) -> None:
    given = values(rank, 0)
    become_known(given)
    total = torch.empty_like(given)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured, capture_error_mode="thread_local"):
        total.copy_(given)
        dist.all_reduce(total)
    worst, equal = 0.0, True
    for step in range(REPLAYS):
        given.copy_(values(rank, step))
        captured.replay()
        equal = equal and torch.equal(total, summed(given))
        exact = summed(given.double())
        error = (total.double() - exact).abs().max() / exact.abs().max()
        worst = max(worst, error.item())
    torch.cuda.synchronize()
    say(error=worst, equal=equal)
    del captured
    dist.destroy_process_group()


if __name__ == "__main__":
    {"stays-away": stays_away, "graph": graph}[sys.argv[1]](start())
