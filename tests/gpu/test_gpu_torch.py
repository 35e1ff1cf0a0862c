"""Training in PyTorch under the preload library for NCCL: two ranks, which share one GPU."""

import importlib.util
import json
import pickle
import socket
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

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


# PyTorch's watchdog, flight recorder, graphs and expandable segments under the preload library for
# NCCL: ranks share one GPU.

TORCH_FAULTS_SCRIPT = Path(__file__).with_name("torch_faults.py")
RANKS = 3
# As torchrun sets the first; the watchdog then aborts the communicator and ends the process.
WATCHDOG = {
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
    "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000",
    "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
    "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "5000",
    "TORCH_NCCL_COORD_CHECK_MILSEC": "200",
}


@pytest.fixture(autouse=True)
def torch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")


def run(folder: Path, mode: str, ranks: int, codec: str | None, **options: bool) -> nccl_job.Job:
    own = WATCHDOG | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    own["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"] = str(folder / "dump")
    if codec is not None:
        own |= {"THINWIRE_CODEC": codec, "THINWIRE_FORCE": "1"}
    command = [sys.executable, str(TORCH_FAULTS_SCRIPT), mode]
    native = codec is None
    return nccl_job.run(command, ranks, folder, own, native=native, seconds=150, **options)


def sums_of(communicators: list[dict[str, Any]]) -> list[dict[str, Any]]:
    operations = [each["operations"] for each in communicators]
    return [each["AllReduce"] for each in operations if "AllReduce" in each]


def dumped(folder: Path, rank: int) -> list[tuple[str, str]]:
    """The calls of the flight recorder, with their states."""
    path = folder / f"dump{rank}"
    assert path.is_file(), sorted(each.name for each in folder.iterdir())
    entries = pickle.loads(path.read_bytes())["entries"]
    return [(each["profiling_name"], each["state"]) for each in entries]


def test_a_rank_that_stays_away_is_found_out(tmp_path: Path) -> None:
    """By PyTorch's watchdog, in a compressed call as natively: with its error and its dump."""
    with ThreadPoolExecutor() as pool:
        started = {
            codec: pool.submit(
                run, tmp_path / str(codec), "stays-away", RANKS, codec, in_order=False
            )
            for codec in (None, "lossless")
        }
        jobs = {codec: each.result() for codec, each in started.items()}
    for codec, job in jobs.items():
        print(f"{codec}: {[rank.code for rank in job.ranks]} after {job.seconds:.0f} s")
        for rank in range(1, RANKS):
            ended = job.ranks[rank]
            assert "came_back" not in ended.output, job.said()
            (known,) = map(json.loads, ended.output.splitlines())
            if codec is not None:
                (sums,) = sums_of(known["report"]["communicators"])
                assert sums["compressed_calls"] > 150, sums
            assert ended.code == jobs[None].ranks[rank].code != 0, job.said()
            assert "Watchdog caught collective operation timeout" in ended.errors, job.said()
            name, state = dumped(tmp_path / str(codec), rank)[-1]
            assert name == "nccl:all_reduce" and state != "completed", (name, state)


def test_an_all_reduce_in_a_graph(tmp_path: Path) -> None:
    """Compressed at each replay, to the same bits as eagerly."""
    job = run(tmp_path, "graph", 2, "blockq")
    for rank, ended in enumerate(job.ranks):
        found = json.loads(ended.output.splitlines()[-1])
        assert found["equal"], found
        # The error is that of 8 bits; in fp32 it would be below a millionth.
        assert 1e-4 < found["error"] < 0.03, found
        (sums,) = sums_of(job.communicators(rank))
        assert "captured into a graph" not in sums["raw_by_reason"]
        assert sums["compressed_calls"] > 150, sums


def test_training_in_expandable_segments(tmp_path: Path) -> None:
    ways = ["ddp", "fsdp2"]
    more = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    _, native = train(tmp_path / "native", None, ways, more)
    job, losses = train(tmp_path / "moves", "lossless:reductions=native", ways, more)
    assert losses == native
    assert coded(job, "AllGather") > 20, job.said()
