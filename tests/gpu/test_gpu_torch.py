"""Training in PyTorch under the preload library for NCCL: two ranks, which share one GPU."""

import importlib.util
import json
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import nccl_job
import pytest

SCRIPT = Path(__file__).with_name("torch_training.py")
WAYS = ["ddp", "ddp-bf16", "zero", "fsdp2"]
SECONDS = 200


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def train(
    folder: Path,
    codec: str | None,
    ways: Sequence[str] = WAYS,
    more: Mapping[str, str] = MappingProxyType({}),
) -> tuple[nccl_job.Job, list[dict[str, list[float]]]]:
    """The job, and of each rank the losses by way."""
    settings = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), **more}
    if codec is not None:
        settings |= {"THINWIRE_CODEC": codec, "THINWIRE_FORCE": "1"}
    command = [sys.executable, str(SCRIPT), *ways]
    job = nccl_job.run(command, 2, folder, settings, native=codec is None, seconds=SECONDS)
    losses = []
    for rank in job.ranks:
        lines = [json.loads(line) for line in rank.output.splitlines() if line.startswith("{")]
        assert [line["way"] for line in lines] == list(ways), job.said()
        losses.append({e["way"]: [float.fromhex(x) for x in e["losses"]] for e in lines})
    return job, losses


def coded(job: nccl_job.Job, name: str) -> int:
    return job.total("compressed_calls", name)


def test_training_comes_to_the_same_losses(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")
    _, native = train(tmp_path / "native", None)
    for of_rank in native:
        for way, losses in of_rank.items():
            assert losses[-1] < losses[0] * 0.8, (way, losses)

    # Moved data is compressed, and NCCL itself adds: to the bit.
    job, losses = train(tmp_path / "moves", "lossless:reductions=native")
    assert losses == native
    assert coded(job, "AllGather") > 100 and coded(job, "Broadcast") > 20, job.said()
    assert coded(job, "AllReduce") == coded(job, "ReduceScatter") == 0

    job, losses = train(tmp_path / "all", "lossless")
    assert min(coded(job, name) for name in ("AllReduce", "ReduceScatter", "AllGather")) > 60
    for name in ("AllGather", "AllReduce", "ReduceScatter"):
        sent, raw = job.total("wire_bytes", name), job.total("bytes", name)
        assert sent < raw, name
    # The order of additions is another one, the values are exact.
    for rank, of_rank in enumerate(losses):
        for way, found in of_rank.items():
            worst = max(abs(a - b) for a, b in zip(found, native[rank][way], strict=True))
            print(f"{way}, rank {rank}: losses differ by {worst:g} at most")
            assert worst < 0.02


def test_functions_that_are_looked_up_beside_pytorch(tmp_path: Path) -> None:
    """By ctypes, in what PyTorch has loaded: one library sees both ways of calling."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")
    command = [sys.executable, str(Path(__file__).with_name("torch_ctypes.py"))]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    native = nccl_job.run(command, 2, tmp_path / "native", place, native=True, seconds=SECONDS)
    assert [rank.output for rank in native.ranks] == ["ok\n"] * 2, native.said()
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    settings = place | {"THINWIRE_CODEC": "lossless", "THINWIRE_FORCE": "1"}
    job = nccl_job.run(command, 2, tmp_path / "library", settings, seconds=SECONDS)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 2, job.said()
    for rank in range(2):
        sums = [
            each["operations"]["AllReduce"]
            for each in job.communicators(rank)
            if "AllReduce" in each["operations"]
        ]
        assert [each["calls"] for each in sums] == [340, 340]
        assert min(each["compressed_calls"] for each in sums) > 200
