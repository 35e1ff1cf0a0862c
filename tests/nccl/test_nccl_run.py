"""`thinwire run` and `exec` with programs of NCCL that run, over a libnccl of host memory."""

import json
import os
import shutil
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, ROOT

pytestmark = pytest.mark.multiproc

CALLS = 340
PROGRAM = (str(PROGRAMS / "nccl_coded"), str(CALLS))
RANKS = 4
OPENMPI = shutil.which("mpirun.openmpi")


def start(mode: str, report: Path, *words: str, **environment: str) -> Popen[str]:
    """The command line as users have it: options, and no setting in the environment."""
    left_out = ("THINWIRE_", "RANK", "WORLD_SIZE", "LD_PRELOAD", "OMPI_COMM", "PMI", "SLURM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    kept |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    options = ["--codec", "lossless", "--same-node", "--force", "--report", str(report)]
    return Popen(
        [sys.executable, "-m", "thinwire", mode, *options, "--", *words],
        env=kept | environment,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    )


def end(*started: Popen[str]) -> str:
    """What they log."""
    ends = [each.communicate(timeout=180) for each in started]
    assert [each.returncode for each in started] == [0] * len(started), ends
    said = "".join(output for output, _ in ends)
    assert said == "ok\n" * said.count("\n") != "", ends
    return "".join(errors for _, errors in ends)


def check(folder: Path, *, files: int, ranks: int, names: set[str]) -> None:
    """All ranks' calls are in the reports, and compressed once they have agreed."""
    reports = sorted(folder.glob("report.nccl.rank*"))
    assert [path.suffix for path in reports] == [f".rank{rank}" for rank in range(files)]
    of_all = [one for path in reports for one in json.loads(path.read_text())["communicators"]]
    assert len(of_all) == ranks
    for one in of_all:
        assert set(one["operations"]) == names
        for name, each in one["operations"].items():
            assert each["calls"] == CALLS
            assert each["compressed_calls"] >= (60 if name in ("Send", "Recv") else 150)


ALL = {"AllGather", "Broadcast", "ReduceScatter", "AllReduce", "Send", "Recv"}


def test_run(tmp_path: Path) -> None:
    """The program shows that it is linked to NCCL; its ranks are threads."""
    assert end(start("run", tmp_path / "report", *PROGRAM)) == ""
    check(tmp_path, files=1, ranks=RANKS, names=ALL)


def test_exec_of_each_rank(tmp_path: Path) -> None:
    own = {"RANKS_FILE": str(tmp_path / "id"), "WORLD_SIZE": str(RANKS)}
    ranks = [
        start("exec", tmp_path / "report", *PROGRAM, RANK=str(rank), **own) for rank in range(RANKS)
    ]
    assert end(*ranks) == ""
    check(tmp_path, files=RANKS, ranks=RANKS, names=ALL)


@pytest.mark.skipif(OPENMPI is None, reason="no mpirun.openmpi")
def test_run_of_mpirun(tmp_path: Path) -> None:
    """The ranks' program makes no call of MPI, and has the MPI's library too."""
    words = [str(OPENMPI), "--oversubscribe", "-n", str(RANKS)]
    rank = ["sh", "-c", 'RANK=$OMPI_COMM_WORLD_RANK exec "$0" "$@"']
    own = {"RANKS_FILE": str(tmp_path / "id")}
    end(start("run", tmp_path / "report", *words, *rank, *PROGRAM, **own))
    check(tmp_path, files=RANKS, ranks=RANKS, names=ALL)


def test_run_of_a_python_that_has_nccl(tmp_path: Path) -> None:
    """A script that loads NCCL later: its package shows."""
    wheel = tmp_path / "packages" / "nvidia" / "nccl" / "lib"
    wheel.mkdir(parents=True)
    (wheel / "libnccl.so.2").symlink_to(PROGRAMS / "lib" / "libnccl.so.2")
    paths = [str(tmp_path / "packages"), *filter(None, [os.environ.get("PYTHONPATH")])]
    words = [
        sys.executable,
        str(ROOT / "tests" / "nccl" / "ctypes_ranks.py"),
        str(PROGRAMS / "libnccl_module.so"),
    ]
    end(start("run", tmp_path / "report", *words, PYTHONPATH=os.pathsep.join(paths)))
    check(tmp_path, files=1, ranks=2, names={"AllGather"})
