"""PyTorch's watchdog, flight recorder, graphs and expandable segments under the preload library for
NCCL: ranks share one GPU."""

import importlib.util
import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nccl_job
import pytest
from test_gpu_torch import coded, free_port, train

SCRIPT = Path(__file__).with_name("torch_faults.py")
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
    command = [sys.executable, str(SCRIPT), mode]
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
