"""Times all-to-alls from small to large, as DeepSpeed's communication benchmark does.

    torchrun --nproc-per-node 2 all_to_all.py --largest 26 --dtype bf16 --data activations

It knows nothing of Thinwire: the preload library for NCCL compresses its calls, and has found out
whether it pays by the last of the warm-ups. Bandwidths count the arrays uncompressed. Every size's
result is checked.
"""

import argparse
import json
import os
import time
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def values(kind: str, count: int, rank: int, device: torch.device) -> torch.Tensor:
    """What a rank sends, which the others can make too."""
    made = torch.Generator(device).manual_seed(rank)
    drawn = torch.randn(count, generator=made, device=device)
    return torch.nn.functional.relu(drawn) if kind == "activations" else drawn


def measured(call, warm_ups: int, trials: int, device: torch.device) -> float:
    """Seconds a call, after others that are made one by one."""
    for _ in range(warm_ups):
        call()
        wait_for_all(device)
    begin = time.perf_counter()
    for _ in range(trials):
        call()
    wait_for_all(device)
    return (time.perf_counter() - begin) / trials


def wait_for_all(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()
    dist.barrier()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--smallest", type=int, default=10, help="2 to this many bytes")
    options.add_argument("--largest", type=int, default=20)
    options.add_argument("--dtype", choices=DTYPES, default="fp32")
    options.add_argument("--data", choices=("activations", "normal"), default="activations")
    options.add_argument("--warm-ups", type=int, default=160, help="calls before those timed")
    options.add_argument("--trials", type=int, default=20)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    on_gpu = torch.cuda.is_available()
    device = torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        device = torch.device("cuda", torch.cuda.current_device())
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    dtype, rows = DTYPES[given.dtype], []
    if rank == 0:
        print(f"{'bytes':>12} {'us':>12} {'algbw GB/s':>12} {'busbw GB/s':>12} {'error':>10}")
    for exponent in range(given.smallest, given.largest + 1):
        block = max(1, (1 << exponent) // dtype.itemsize // ranks)
        mine = values(given.data, block * ranks, rank, device).to(dtype)
        come = torch.empty_like(mine)
        call = partial(dist.all_to_all_single, come, mine)
        took = measured(call, given.warm_ups, given.trials, device)
        own = slice(rank * block, (rank + 1) * block)
        sent = (values(given.data, block * ranks, each, device) for each in range(ranks))
        whole = torch.cat([each.to(dtype)[own] for each in sent])
        error = (come.float() - whole.float()).abs().max().item()
        nbytes = mine.numel() * mine.element_size()
        rate = nbytes / took / 1e9
        row = {"bytes": nbytes, "us": 1e6 * took, "algbw": rate, "error": error}
        rows.append(row | {"busbw": rate * (ranks - 1) / ranks})
        if rank == 0:
            busbw = rows[-1]["busbw"]
            print(f"{nbytes:12} {1e6 * took:12.1f} {rate:12.3f} {busbw:12.3f} {error:10.2g}")
    if rank == 0 and given.json:
        told = {"example": f"all-to-all {given.dtype} {given.data}", "ranks": ranks, "rows": rows}
        with given.json.open("a") as file:
            file.write(json.dumps(told) + "\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
