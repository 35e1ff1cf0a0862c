"""NCCL jobs whose ranks share one GPU, and what the preload library reports of them."""

import ctypes
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired

import pytest
from test_gpu_programs import libnccl

from thinwire.lab.gpus import visible
from thinwire.library import NCCL_SHIM, library_path

# NCCL takes a GPU twice only if it believes to be on two hosts, whose ranks talk over sockets.
ONE_GPU = {
    "NCCL_SOCKET_IFNAME": "lo",
    "NCCL_IB_DISABLE": "1",
    "NCCL_NET": "Socket",
    "NCCL_NVLS_ENABLE": "0",
    "CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0],
}

# NCCL 2.32.3 by itself adds wrongly in this algorithm of ReduceScatter, seen with four ranks that
# share a GPU.
WRONG_BY_PAT = 23203

# The least that every operation has in a report.
OPERATIONS = (
    "AllGather",
    "AllReduce",
    "AlltoAll",
    "Broadcast",
    "Gather",
    "Recv",
    "Reduce",
    "ReduceScatter",
    "Scatter",
    "Send",
)


@dataclass(frozen=True)
class Ended:
    """A rank's process."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True)
class Job:
    ranks: list[Ended]
    seconds: float
    report: Path

    def said(self) -> str:
        return "\n".join(
            f"rank {number} ended with {rank.code}: {rank.output[-1500:]}{rank.errors[-3000:]}"
            for number, rank in enumerate(self.ranks)
        )

    def communicators(self, rank: int) -> list[dict]:
        """Those of a rank that have made calls, in the order in which they were first used."""
        path = self.report.with_name(f"{self.report.name}.nccl.rank{rank}")
        found = json.loads(path.read_text())["communicators"]
        return [each for each in found if each["operations"]]

    def total(self, what: str, *names: str) -> int:
        """Of the named operations, or of all, on all ranks."""
        return sum(
            figures[what]
            for rank in range(len(self.ranks))
            for each in self.communicators(rank)
            for name, figures in each["operations"].items()
            if not names or name in names
        )


def preload() -> str:
    try:
        return str(library_path(NCCL_SHIM))
    except FileNotFoundError as error:
        pytest.skip(str(error))


def nccl_version() -> int:
    found = ctypes.c_int()
    assert ctypes.CDLL(libnccl()).ncclGetVersion(ctypes.byref(found)) == 0
    return found.value


def on_nodes(nodes: tuple[int, ...], rank: int) -> dict[str, str]:
    """What makes NCCL take ranks for those of the named nodes, with a GPU for each of a node."""
    local = nodes[:rank].count(nodes[rank])
    return {
        "NCCL_HOSTID": f"node-{nodes[rank]}",
        "CUDA_VISIBLE_DEVICES": visible(os.environ)[local],
    }


def is_kept(name: str) -> bool:
    """A rank has no settings but its job's, and finds the library where this process does."""
    return name == "THINWIRE_LIBRARY_DIR" or not name.startswith(("THINWIRE_", "NCCL_", "RANK"))


def start(
    command: list[str], rank: int, ranks: int, folder: Path, settings: dict[str, str], *, bare: bool
) -> Popen[str]:
    kept = {name: value for name, value in os.environ.items() if is_kept(name)}
    own = ONE_GPU | {
        "NCCL_HOSTID": f"host-{rank}",
        "RANK": str(rank),
        "RANKS": str(ranks),
        "WORLD_SIZE": str(ranks),
        "LOCAL_RANK": "0",
        "RANKS_FILE": str(folder / "id"),
        "THINWIRE_NCCL": libnccl(),
    }
    if nccl_version() >= WRONG_BY_PAT:
        own["NCCL_PAT_ENABLE"] = "0"
    if not bare:
        own |= {"LD_PRELOAD": preload(), "THINWIRE_REPORT": str(folder / "report")}
    # Killed with whatever it starts.
    return Popen(
        command, env=kept | own | settings, stdout=PIPE, stderr=PIPE, text=True, process_group=0
    )


def run(
    command: list[str],
    ranks: int,
    folder: Path,
    settings: dict[str, str] | None = None,
    *,
    native: bool = False,
    without: tuple[int, ...] = (),
    nodes: tuple[int, ...] = (),
    seconds: float = 150,  # they take 10 to 60 beside other jobs on the GPU
    in_order: bool = True,
) -> Job:
    """Ranks of one GPU, or of as many as a node of `nodes` has ranks: `native` without the library,
    or those of `without`. A job that is not over after `seconds` fails, with what each rank has
    said; so does one of which a rank has not ended `in_order`."""
    folder.mkdir(exist_ok=True)
    begin = time.monotonic()
    processes = [
        start(
            command,
            rank,
            ranks,
            folder,
            (settings or {}) | (on_nodes(nodes, rank) if nodes else {}),
            bare=native or rank in without,
        )
        for rank in range(ranks)
    ]
    late = False
    ended = []
    try:
        for process in processes:
            try:
                left = max(begin + seconds - time.monotonic(), 1)
                output, errors = process.communicate(timeout=1 if late else left)
            except TimeoutExpired:
                late = True
                os.killpg(process.pid, signal.SIGKILL)
                output, errors = process.communicate()
            ended.append(Ended(process.returncode, output, errors))
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    job = Job(ended, time.monotonic() - begin, folder / "report")
    assert not late, f"not over after {seconds} s\n{job.said()}"
    assert not in_order or all(rank.code == 0 for rank in ended), job.said()
    print(f"{' '.join(map(str, command[-4:]))}: {ranks} ranks, {job.seconds:.1f} s")
    return job
