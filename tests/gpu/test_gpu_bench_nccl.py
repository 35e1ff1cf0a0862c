"""`thinwire bench nccl` and torchrun in a lab, over NCCL: ranks share a GPU where there is one."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_gpu_programs import libnccl, program
from typer.testing import CliRunner

from thinwire import Codec, message
from thinwire.bench import codec as codec_bench
from thinwire.bench.buffers import GpuFrameBuffers
from thinwire.bench.nccl import BASELINES, OPERATIONS, WAYS, goes
from thinwire.bench.samples import Sample
from thinwire.cli import command_line
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
    words += ("--baseline", ",".join(BASELINES))
    rows = rows_of("--loopback", "--ranks", "2", "--codec", codec, *words)
    assert len(rows) == 2 * sum(goes(op, way) for op in OPERATIONS for way in WAYS + BASELINES)
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


# `thinwire advise` and its buffers on a GPU.

FIELD = np.sin(np.arange(64 * 64 * 64) / 99).reshape(64, 64, 64).astype(np.float32)


@pytest.mark.parametrize("spec", ["mpc", "zfp:rate=8"])
@pytest.mark.parametrize("shape", [(64, 64, 64), (64**3,)])
def test_frames_are_those_of_the_cpu(spec: str, shape: tuple[int, ...]) -> None:
    codec, values = Codec(spec), FIELD.reshape(shape)
    buffers = GpuFrameBuffers(codec, values, "f32")
    buffers.encode()
    assert buffers.frame.tobytes() == message.compress(values, codec)
    decoded = message.decompress(buffers.frame).reshape(-1).view(np.uint8)
    assert np.array_equal(buffers.decode_afresh(), decoded)


def test_a_row_has_its_figures() -> None:
    row = codec_bench.measure(Codec("mpc"), Sample("x", "f32", FIELD.ravel()), 3, GpuFrameBuffers)
    assert row.verified and row.ratio > 1, row.note
    assert row.encode_gb_per_second > 0 and row.decode_gb_per_second > 0


def test_the_command(tmp_path: Path) -> None:
    FIELD.tofile(tmp_path / "field.f32")
    words = ["advise", str(tmp_path / "field.f32"), "--link", "1mbit", "--device", "gpu", "--json"]
    done = CliRunner().invoke(
        command_line(), [*words, "--shape", "64x64x64"], catch_exceptions=False
    )
    said = json.loads(done.stdout)
    assert done.exit_code == 0 and said["device"] == "gpu"
    assert said["advice"][0]["codec"] != "raw"
    assert all(each["verified"] for each in said["candidates"])
