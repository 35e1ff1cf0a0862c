"""How communicators and ranks come, live and end under the preload library on one GPU: those of
tests/nccl, as processes that share it; and ranks that are threads with a GPU each."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import nccl_job
import pytest
from test_gpu_nccl import by_operation, run_ok, settings
from test_gpu_programs import libnccl, program

from thinwire import gpu_count
from thinwire.lab import Lab, LabUnavailable

# From these on NCCL has what the way is of.
SINCE = {
    "shrink": 2_27_00,
    "shrink-dead": 2_27_00,
    "shrink-root": 2_27_00,
    "revoke": 2_28_00,
    "simulate": 2_22_00,
    "grow": 2_30_00,
}
ALL = 2_28_00  # of what `nccl_ways_gpu` calls


def need(version: int) -> None:
    # 22809 is 2.28.9.
    if nccl_job.nccl_version() < version:
        pytest.skip(f"NCCL {nccl_job.nccl_version()} does not have it")


@pytest.mark.parametrize(
    ("way", "blocking"),
    [
        *((way, "1") for way in ("finalize", "shrink-root", "simulate", "grow")),
        *((way, blocking) for way in ("shrink", "shrink-dead", "revoke") for blocking in "10"),
    ],
)
def test_ways_to_live(way: str, blocking: str, tmp_path: Path) -> None:
    need(SINCE.get(way, 0))
    more = {"NCCL_COMM_BLOCKING": blocking, "THINWIRE_LOG": "error"}
    job = run_ok([program("nccl_lives_gpu"), way], 4, tmp_path, "mpc", **more)
    for rank in range(4):
        coded = by_operation(job, rank, "compressed_calls", "AllGather")
        assert coded and min(coded) > 0, (rank, coded)


@pytest.mark.parametrize(("mode", "rounds", "seed"), [("any", 12, 1), ("abort", 12, 2)])
def test_communicators_that_end_at_random_moments(
    mode: str, rounds: int, seed: int, tmp_path: Path
) -> None:
    """Under calls some of whose blocks do not fit; a round that hangs ends the program."""
    need(ALL)
    words = [program("nccl_ways_gpu"), mode, str(rounds), str(seed)]
    own = settings("mpc", THINWIRE_LOG="off")
    job = nccl_job.run(words, 3, tmp_path, own, seconds=60 + 15 * rounds)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 3, job.said()
    # The later ones of the 150 calls of each communicator are compressed.
    assert job.total("compressed_calls") > 3 * rounds * 20
    # An abort may come before any call whose blocks do not fit has ended.
    assert mode == "abort" or job.total("spilled_blocks") > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_a_rank_that_is_killed_in_a_compressed_call(seed: int, tmp_path: Path) -> None:
    """Its blocks fit under an even seed; under an odd one they go by way of the hosts."""
    words = [program("nccl_ways_gpu"), "killed", "1", str(seed)]
    own = settings("mpc", THINWIRE_LOG="off")
    job = nccl_job.run(words, 3, tmp_path, own, seconds=90, in_order=False)
    assert [rank.code for rank in job.ranks] == [0, 0, -signal.SIGKILL], job.said()
    assert [rank.output for rank in job.ranks] == ["ok\n", "ok\n", ""], job.said()
    for rank in range(2):
        assert min(by_operation(job, rank, "compressed_calls", "AllGather")) > 0


def test_one_rank(tmp_path: Path) -> None:
    job = run_ok([program("nccl_every_gpu"), "6"], 1, tmp_path)
    assert job.total("compressed_calls") == job.total("trials") == 0
    (figures, *_) = (each["operations"]["AllReduce"] for each in job.communicators(0))
    assert figures["raw_by_reason"]["to itself, or of one rank"] > 0


@pytest.mark.several_gpus
@pytest.mark.parametrize("references", ["0", "16MiB"])
def test_threads_with_a_gpu_each(references: str, tmp_path: Path) -> None:
    """One process has both ranks, and their communicators."""
    if gpu_count() < 2:
        pytest.skip("one GPU only: threads of a process cannot share it")
    more = {
        "RANKS": "2",
        "RANKS_FILE": "",
        "CUDA_VISIBLE_DEVICES": ",".join(nccl_job.visible(os.environ)[:2]),
    }
    more |= {"NCCL_P2P_DISABLE": "1", "THINWIRE_SAME_NODE": "1"}
    more |= {"THINWIRE_REFERENCES": references}
    programs = {"nccl_every_gpu": ("14",), "nccl_random_gpu": ("3", "1500")}
    if references != "0":
        programs["nccl_references_gpu"] = ("60",)
    for name, words in programs.items():
        job = run_ok([program(name), *words], 1, tmp_path / name, **more)
        compressed = job.total("compressed_calls")
        print(f"{name}: {compressed} compressed calls")
        assert compressed > 50
        if "references" in name:
            assert job.total("difference_bytes") > 0


@pytest.mark.parametrize("codec", ["lossless", "mpc"])
def test_registered_memory(codec: str, tmp_path: Path) -> None:
    job = run_ok([program("nccl_registered_gpu")], 2, tmp_path, codec)
    for rank in range(2):
        for name in ("AllGather", "AllReduce"):
            (compressed,) = by_operation(job, rank, "compressed_calls", name)
            # All but those until ranks had agreed.
            assert compressed > 240, (name, compressed)


# NCCL programs on nodes of several GPUs: the GPUs of this machine, which NCCL takes for those of
# several hosts, each with all of them.

GPUS = len(nccl_job.visible(os.environ))
SAME_NODE = "peer on the same node"


@pytest.mark.several_gpus
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


@pytest.mark.several_gpus
@pytest.mark.parametrize("seed", [5, 8])
def test_random_programs_on_nodes(seed: int, tmp_path: Path) -> None:
    if GPUS < 2:
        pytest.skip("too few GPUs for a node")
    words = [program("nccl_random_gpu"), str(seed), "1500"]
    settings = {"THINWIRE_CODEC": "lossless", "THINWIRE_THRESHOLD": "1KiB", "THINWIRE_FORCE": "1"}
    job = nccl_job.run(words, 4, tmp_path, settings, nodes=(0, 0, 1, 1), seconds=200)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 4, job.said()
    assert job.total("compressed_calls") > 30


@pytest.mark.several_gpus
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


@pytest.mark.several_gpus
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


MEASURE = Path(__file__).resolve().parents[2] / "bench" / "studies" / "memory" / "measure.py"
MIB = 1 << 20
ROUGHLY = 64  # MiB: kernels that are loaded as they are called first, and what lies between


@pytest.mark.several_gpus
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
