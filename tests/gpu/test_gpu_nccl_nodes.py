"""NCCL programs on nodes of several GPUs: the GPUs of this machine, which NCCL takes for those of
several hosts, each with all of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nccl_job
import pytest
from test_gpu_programs import libnccl, program

from thinwire.lab import Lab, LabUnavailable

pytestmark = pytest.mark.several_gpus

GPUS = len(nccl_job.visible(os.environ))
SAME_NODE = "peer on the same node"


@pytest.mark.parametrize(
    ("nodes", "codec", "error"),
    [
        ((0, 0, 1, 1), "lossless", None),
        ((0, 1, 0, 1), "lossless", None),
        ((0, 0, 1, 1), "zfp:rate=16", "1"),
        ((0, 0, 1), "lossless", None),
        ((0, 0, 0, 0, 1, 1, 1, 1), "lossless", None),
    ],
)
def test_every_operation_on_nodes(
    nodes: tuple[int, ...], codec: str, error: str | None, tmp_path: Path
) -> None:
    if max(nodes.count(node) for node in nodes) > GPUS:
        pytest.skip("too few GPUs for a node")
    words = [program("nccl_every_gpu"), "14", *filter(None, [error])]
    settings = {"THINWIRE_CODEC": codec, "THINWIRE_THRESHOLD": "1KiB", "THINWIRE_FORCE": "1"}
    job = nccl_job.run(words, len(nodes), tmp_path, settings, nodes=nodes, seconds=150)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * len(nodes), job.said()
    for name in ("AllGather", "ReduceScatter", "AllReduce", "Broadcast", "AlltoAll"):
        assert job.total("compressed_calls", name) > 20 * len(nodes), name
        assert job.total("wire_bytes", name) < job.total("bytes", name), name


@pytest.mark.parametrize("seed", [5, 8])
def test_random_programs_on_nodes(seed: int, tmp_path: Path) -> None:
    if GPUS < 2:
        pytest.skip("too few GPUs for a node")
    words = [program("nccl_random_gpu"), str(seed), "1500"]
    settings = {"THINWIRE_CODEC": "lossless", "THINWIRE_THRESHOLD": "1KiB", "THINWIRE_FORCE": "1"}
    job = nccl_job.run(words, 4, tmp_path, settings, nodes=(0, 0, 1, 1), seconds=200)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 4, job.said()
    assert job.total("compressed_calls") > 30


def test_references_on_nodes(tmp_path: Path) -> None:
    if GPUS < 2:
        pytest.skip("too few GPUs for a node")
    words = [program("nccl_references_gpu"), "90"]
    settings = {"THINWIRE_CODEC": "lossless", "THINWIRE_THRESHOLD": "1KiB", "THINWIRE_FORCE": "1"}
    settings |= {"THINWIRE_REFERENCES": "16MiB"}
    job = nccl_job.run(words, 4, tmp_path, settings, nodes=(0, 0, 1, 1), seconds=200)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 4, job.said()
    for name in ("AllGather", "Broadcast"):
        assert job.total("difference_bytes", name) > 0, name


def test_one_node_is_raw(tmp_path: Path) -> None:
    if GPUS < 2:
        pytest.skip("too few GPUs for a node")
    settings = {"THINWIRE_CODEC": "lossless", "THINWIRE_THRESHOLD": "1KiB", "THINWIRE_FORCE": "1"}
    words = [program("nccl_every_gpu"), "4"]
    job = nccl_job.run(words, 2, tmp_path, settings, nodes=(0, 0))
    assert job.total("compressed_calls") == 0
    for each in job.communicators(0):
        assert SAME_NODE in each["operations"]["AllGather"]["raw_by_reason"]


# Memory that compressed sums make NCCL take of a GPU, and what the library says of it.


MEASURE = Path(__file__).resolve().parents[2] / "bench" / "memory" / "measure.py"
MIB = 1 << 20
ROUGHLY = 64  # MiB: kernels that are loaded as they are called first, and what lies between


@pytest.mark.gpu_alone
@pytest.mark.parametrize("layout", ["4x1", "2x2"])
def test_memory_of_connections_is_what_was_expected_at_most(layout: str) -> None:
    try:
        with Lab(hosts=1, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    ways = ["--way", "native", "--way", "raw", "--way", "compressed"]
    command = [sys.executable, str(MEASURE), "--library", libnccl(), "--layout", layout, *ways]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=500, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not rows:
        pytest.skip(done.stderr.strip())
    native, raw, compressed = rows
    assert compressed["compressed"] > 100 and raw["compressed"] == 0
    told = compressed["reported"]
    expected = told["connections"]["estimated_bytes"] / MIB
    (first,) = told["memory"]["free"]
    assert first["behind_bytes"] <= first["before_bytes"]
    assert told["memory"]["most_held_bytes"] < 64 * MIB
    grown = compressed["taken"]["call 400"] - compressed["taken"]["call 5"]
    assert grown <= expected + ROUGHLY
    # Calls that stay raw connect nobody.
    assert raw["reported"]["connections"]["ranks"] == 0
    assert abs(raw["taken"]["call 400"] - raw["taken"]["call 5"]) <= ROUGHLY
