"""`thinwire.torch` on GPUs: its hooks beside NCCL, and the names and the policy that it gives the
preload library. Two ranks share one GPU."""

import importlib.util
import json
import sys
from pathlib import Path

import nccl_job
import pytest
from test_gpu_torch import free_port

SCRIPT = Path(__file__).with_name("torch_policy.py")
SECONDS = 200


def run(folder: Path, way: str, native: bool) -> tuple[nccl_job.Job, list[dict[str, dict]]]:
    """The job, and of each rank what it said, by case."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")
    settings = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "GLOO_SOCKET_IFNAME": "lo",
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_FORCE": "1",
    }
    command = [sys.executable, str(SCRIPT), way]
    job = nccl_job.run(command, 2, folder, settings, native=native, seconds=SECONDS)
    told = []
    for rank in job.ranks:
        lines = [json.loads(line) for line in rank.output.splitlines() if line.startswith("{")]
        told.append({line["case"]: line for line in lines})
    return job, told


@pytest.mark.gpu_alone
def test_hooks_beside_nccl(tmp_path: Path) -> None:
    job, told = run(tmp_path / "hooks", "hooks", native=True)
    for of_rank in told:
        assert len(of_rank) == 12, job.said()
        for way in ("ddp", "fsdp2"):
            for dtype in ("torch.float32", "torch.bfloat16"):
                none, lossless, lossy = (
                    of_rank[f"{way}/{dtype}/{kind}"] for kind in ("none", "lossless", "lossy")
                )
                assert none["modules"] == 0 and lossless["modules"] > 0
                # Sums of two are the same in any order.
                assert lossless["losses"] == none["losses"], (way, dtype)
                assert lossy["losses"] != none["losses"], (way, dtype)
                pairs = zip(lossy["losses"], none["losses"], strict=True)
                worst = max(abs(float.fromhex(a) - float.fromhex(b)) for a, b in pairs)
                assert worst < 0.05, (way, dtype, worst)
                reductions = "allreduce" if way == "ddp" else "reduce-scatter"
                row = lossy["stats"][reductions]
                # Eight bits a value, and what blocks and frames take besides.
                least = 3.0 if dtype == "torch.float32" else 1.8
                assert row["compressed"] > 0, row
                assert row["sent_bytes"] > least * row["wire_bytes"], row
                row = lossless["stats"][reductions]
                assert row["compressed"] > 0 and row["sent_bytes"] > row["wire_bytes"], row


def test_names_and_policy_under_the_preload_library(tmp_path: Path) -> None:
    job, told = run(tmp_path / "preload", "preload", native=False)
    for rank in range(2):
        assert told[rank]["two"]["error"] < 1e-5 < told[rank]["one"]["error"] < 0.1
        assert told[rank]["fsdp2"]["modules"] == 0, "hooks beside the preload library"
        by_name = {each["name"]: each["operations"] for each in job.communicators(rank)}
        assert by_name["one"]["AllReduce"]["compressed_calls"] > 0, job.said()
        assert by_name["two"]["AllReduce"]["compressed_calls"] == 0
        row = told[rank]["fsdp2"]["stats"]["one"]["allreduce"]
        assert row["compressed"] == by_name["one"]["AllReduce"]["compressed_calls"]
        assert row["sent_bytes"] > 3 * row["wire_bytes"], row
        sharded = by_name["dp_shard"]
        for name in ("AllGather", "ReduceScatter"):
            row = sharded[name]
            assert row["compressed_calls"] > 0, (name, row)
            print(f"rank {rank}: {name} {row['bytes']} bytes as {row['wire_bytes']}")
        path = job.report.with_name(f"{job.report.name}.nccl.rank{rank}")
        rules = {
            each["codec"].partition(":")[0]: each["compressed_calls"]
            for each in json.loads(path.read_text())["rules"]
            if each["compressed_calls"]
        }
        assert set(rules) >= {"blockq", "lossless"}, rules
