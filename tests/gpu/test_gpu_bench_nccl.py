"""`thinwire bench nccl` and torchrun in a lab, over NCCL: ranks share a GPU where there is one."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_gpu_programs import libnccl, program

from thinwire.bench.nccl import HAS_HOPS
from thinwire.lab import Lab, LabUnavailable

THINWIRE = [sys.executable, "-m", "thinwire"]


@pytest.fixture
def lab() -> None:
    try:
        with Lab(hosts=1, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")


def rows_of(*words: str) -> list[dict[str, Any]]:
    """Of verified rows alone."""
    known = ["--library", libnccl(), "--program", program("nccl"), "--json"]
    command = [*THINWIRE, "bench", "nccl", *words, *known]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(done.stdout)


def check(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert row["verified"] and row["memory"] == "device" and row["gpu"], row
        if row["way"] != "raw":
            assert row["compressed_calls"] == row["calls"] > 0, row
            assert row["ratio"] > 1, row


@pytest.mark.parametrize("codec", ["lossless", "zfp:rate=8", "szp:abs=1e-3"])
def test_every_operation_on_this_host(codec: str) -> None:
    dtype = "bf16" if codec == "lossless" else "f32"
    words = ("--op", "all", "--size", "1MiB,3MiB", "--iterations", "3", "--dtype", dtype)
    rows = rows_of("--loopback", "--ranks", "2", "--codec", codec, *words)
    assert len(rows) == 2 * sum(3 if hops else 2 for hops in HAS_HOPS.values())
    check(rows)


def test_sums_of_three_ranks_over_and_over() -> None:
    words = ("--op", "all_reduce,reduce_scatter", "--size", "256KiB", "--calls", "20")
    for dtype in ("f16", "f64"):
        rows = rows_of("--loopback", "--ranks", "3", "--dtype", dtype, *words)
        assert all(row["calls"] == 7 * 20 * 3 for row in rows if row["way"] == "coded")
        assert all(row["verified"] for row in rows)


def test_hosts_of_a_lab(lab: None) -> None:
    words = ("--op", "all", "--size", "4MiB", "--iterations", "3")
    rows = rows_of("--hosts", "2", "--link", "10gbit", *words)
    check(rows)
    assert {(row["hosts"], row["drops"]) for row in rows} == {(2, 0)}


TRAINING = """
import os, torch, torch.distributed as dist
torch.cuda.set_device(0)
dist.init_process_group("nccl")
rank = dist.get_rank()
values = torch.full((1 << 20,), float(rank + 1), device="cuda")
for _ in range(3):
    sums = values.clone()
    dist.all_reduce(sums)
torch.cuda.synchronize()
# In one write: what both ranks print comes by one pipe.
line = f"rank {rank} on {os.uname().nodename} sums {sums[-1].item()}\\n"
os.write(1, line.encode())
dist.destroy_process_group()
"""


def test_torchrun_across_the_hosts_of_a_lab(lab: None, tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")
    script = tmp_path / "train.py"
    script.write_text(TRAINING)
    torchrun = [sys.executable, "-m", "torch.distributed.run", str(script)]
    command = [*THINWIRE, "lab", "run", "--hosts", "2", "--link", "10gbit", "--", *torchrun]
    done = subprocess.run(
        command, env=os.environ, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    lines = sorted(line for line in done.stdout.splitlines() if line.startswith("rank"))
    assert lines == [f"rank {rank} on tw-lab-{rank} sums 3.0" for rank in (0, 1)]
