"""Sums of NCCL in the order of the ranks, or exact: the bits of a loop over the ranks, or of the
nearest values, on GPUs, too, and a training that repeats to the bit on other hosts, over other
links, compressed and raw."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import nccl_job
import pytest
from test_gpu_programs import libnccl, program

from thinwire.lab import Lab
from thinwire.lab.gpus import visible

ORDERED = "lossless:reductions=ordered"
SETTINGS = {"THINWIRE_CODEC": ORDERED, "THINWIRE_THRESHOLD": "1KiB"}
FORCED = SETTINGS | {"THINWIRE_FORCE": "1"}
EXACT = {"THINWIRE_CODEC": "lossless:reductions=exact"}
WAYS = ["ddp", "ddp-bf16", "fsdp2"]
SCRIPT = Path(__file__).with_name("torch_training.py")
GPUS = visible(os.environ)


def expect_in_order(operations: list[dict[str, dict[str, Any]]]) -> int:
    """No sum of any rank is NCCL's own; how many there are."""
    sums = [of for each in operations for of in each.values() if "in_rank_order" in of]
    assert sum(of["out_of_rank_order"] for of in sums) == 0
    return sum(of["in_rank_order"] for of in sums)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["60"], {}),
        (["60"], {"THINWIRE_FORCE": "0"}),
        (["60", "grouped"], {}),
        (["40", "captured"], {}),
        (["40", "late"], {"NCCL_ALGO": "Tree"}),
        (["60", "split"], {"NCCL_COMM_BLOCKING": "0"}),
        (["2", "large"], {}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else " ".join(each.values()),
)
@pytest.mark.parametrize("ranks", [3, 4])
def test_sums_are_those_of_a_loop(
    words: list[str], more: dict[str, str], ranks: int, tmp_path: Path
) -> None:
    job = nccl_job.run([program("nccl_ordered_gpu"), *words], ranks, tmp_path, FORCED | more)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * ranks, job.said()
    found = [each["operations"] for rank in range(ranks) for each in job.communicators(rank)]
    assert expect_in_order(found) == 5 * int(words[0]) * ranks


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["60", "exact"], {}),
        (["60", "exact", "grouped"], {"THINWIRE_FORCE": "0"}),
        (["40", "exact", "captured"], {}),
        (["2", "exact", "large"], {}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else " ".join(each.values()),
)
@pytest.mark.parametrize("ranks", [3, 4])
def test_exact_sums_are_those_of_the_values(
    words: list[str], more: dict[str, str], ranks: int, tmp_path: Path
) -> None:
    settings = FORCED | EXACT | more
    job = nccl_job.run([program("nccl_ordered_gpu"), *words], ranks, tmp_path, settings)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * ranks, job.said()
    found = [each["operations"] for rank in range(ranks) for each in job.communicators(rank)]
    assert expect_in_order(found) == 5 * int(words[0]) * ranks


@pytest.mark.several_gpus
def test_sums_on_nodes_are_those_of_a_loop(tmp_path: Path) -> None:
    if len(GPUS) < 2:
        pytest.skip("too few GPUs for a node")
    words = [program("nccl_ordered_gpu"), "100"]
    job = nccl_job.run(words, 4, tmp_path, FORCED, nodes=(0, 0, 1, 1))
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 4, job.said()
    assert job.total("compressed_calls") > 100


def train(
    folder: Path, hosts: int, ranks: int, link: str, settings: dict[str, str]
) -> tuple[list[dict[str, list[str]]], list[dict[str, dict[str, Any]]]]:
    """Each rank's losses by way, and what its communicators have made, on hosts of the lab, which
    share GPUs."""
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if nccl_job.is_kept(name)}
    own = {"NCCL_IB_DISABLE": "1", "NCCL_NET": "Socket", "NCCL_NVLS_ENABLE": "0"}
    own |= {"LD_PRELOAD": nccl_job.preload(), "THINWIRE_REPORT": str(folder / "report")}
    own |= {"THINWIRE_NCCL": libnccl()} | settings
    words = [sys.executable, str(SCRIPT), *WAYS]
    with Lab(hosts=hosts, ranks_per_host=ranks, link=link, gpus=[GPUS[:ranks]] * hosts) as lab:
        started = lab.popen_everywhere(words, env=kept | own, stdout=PIPE, stderr=PIPE, text=True)
        said = [each.communicate(timeout=280) for each in started]
    assert all(each.returncode == 0 for each in started), [errors[-1500:] for _, errors in said]
    losses, operations = [], []
    for rank, (output, _) in enumerate(said):
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        losses.append({line["way"]: line["losses"] for line in lines})
        report = json.loads((folder / f"report.nccl.rank{rank}").read_text())
        operations += [each["operations"] for each in report["communicators"]]
    assert all(list(each) == WAYS for each in losses)
    return losses, operations


@pytest.mark.gpu_alone
def test_a_training_repeats_to_the_bit(permitted: None, tmp_path: Path) -> None:
    """Forced to compress, as timed on a slow link, and raw; where there are two GPUs, on two hosts
    of two ranks as well."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")
    jobs = {
        "compressed": (4, 1, "10gbit", FORCED),
        "timed": (4, 1, "1gbit", SETTINGS | {"NCCL_ALGO": "ring;allreduce:tree"}),
        "raw": (4, 1, "10gbit", SETTINGS | {"THINWIRE_THRESHOLD": "1GiB"}),
    }
    if len(GPUS) >= 2:
        jobs["two hosts"] = (2, 2, "10gbit", FORCED)
    first = None
    for name, (hosts, ranks, link, settings) in jobs.items():
        losses, operations = train(tmp_path / name, hosts, ranks, link, settings)
        first = first or losses
        assert losses == first, name
        assert expect_in_order(operations) > 400, name
        coded = sum(of["compressed_calls"] for each in operations for of in each.values())
        print(f"{name}: {coded} compressed calls")
        assert name == "timed" or (coded > 100) == (name != "raw")
