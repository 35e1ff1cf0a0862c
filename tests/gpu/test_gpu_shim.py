"""Unmodified MPI programs with buffers on GPUs, under the preload library, on a plain MPI."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_gpu_programs import program

from thinwire import gpu_count
from thinwire.bench.programs import mpi_is_gpu_aware

# Seconds that a program may take under an MPI without the library.
NATIVE_SECONDS = 60

# A codec and the relative error that its messages may have.
CODECS = [("off", "0"), ("mpc", "0"), ("zfp:rate=16", "1e-3")]

MPI4PY = """
import sys
import numpy as np, cupy
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, peer = comm.rank, 1 - comm.rank
cupy.cuda.Device(rank % cupy.cuda.runtime.getDeviceCount()).use()
mine = cupy.sin(cupy.arange(1 << 20, dtype=cupy.float32) * 0.001) + rank
theirs = cupy.zeros_like(mine)
cupy.cuda.get_current_stream().synchronize()
comm.Sendrecv(mine, peer, recvbuf=theirs, source=peer)
expected = mine - rank + peer
bound = float(sys.argv[1])
assert float(cupy.abs(theirs - expected).max()) <= bound * 3 + 1e-6
total = cupy.zeros_like(mine)
comm.Allreduce(mine, total)
assert float(cupy.abs(total - (mine - rank) * 2 - 1).max()) <= 2 * bound * 3 + 1e-5
print("ok", rank, flush=True)
"""


@pytest.fixture
def mpirun() -> str:
    found = shutil.which("mpirun")
    if found is None:
        pytest.skip("no mpirun")
    return found


def environment() -> dict[str, str]:
    return os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }


def run_under_shim(
    words: list[str], codec: str, report: Path, command: list[str], *options: str
) -> subprocess.CompletedProcess[str]:
    """`words` may start a lab; `command` starts the ranks; `options` are more of `thinwire run`."""
    thinwire = [sys.executable, "-m", "thinwire"]
    shim = [*thinwire, "run", "--codec", codec, "--force", "--same-node", "--report", str(report)]
    return subprocess.run(
        [*words, *shim, *options, "--", *command],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def check_report(report: Path, codec: str) -> None:
    totals = json.loads(report.read_text())
    assert totals["device_messages"] > 0
    assert totals["decoded_messages"] == totals["compressed_messages"]
    assert (totals["compressed_messages"] > 0) == (codec != "off")
    assert totals["damaged_messages"] == 0


@pytest.mark.parametrize(("codec", "bound"), CODECS)
def test_every_call_on_one_host(codec: str, bound: str, mpirun: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [mpirun, "-n", "2", program("shim_exchange_gpu"), bound]
    done = run_under_shim([], codec, report, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok " in done.stdout
    check_report(report, codec)


@pytest.mark.several_gpus
@pytest.mark.parametrize(("codec", "bound"), CODECS)
def test_two_gpus_on_two_hosts(codec: str, bound: str, mpirun: str, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("hosts with GPUs of their own need root")
    pytest.importorskip("pyroute2")
    if gpu_count() < 2:
        pytest.skip("one GPU only: two hosts would share it")
    report = tmp_path / "report.json"
    lab = [sys.executable, "-m", "thinwire", "lab", "run", "--hosts", "2", "--link", "10gbit", "--"]
    command = [mpirun, "-n", "2", program("shim_exchange_gpu"), bound]
    done = run_under_shim(lab, codec, report, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok " in done.stdout
    check_report(report, codec)


@pytest.mark.parametrize(("codec", "bound"), CODECS)
def test_mpi4py_with_cupy(codec: str, bound: str, mpirun: str, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    pytest.importorskip("cupy")
    report = tmp_path / "report.json"
    script = tmp_path / "exchange.py"
    script.write_text(MPI4PY)
    command = [mpirun, "-n", "2", sys.executable, str(script), bound]
    done = run_under_shim([], codec, report, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 2
    check_report(report, codec)


def run_natively_first(command: list[str]) -> None:
    """The time that an MPI takes by itself is none of the library's: skips where it is long."""
    try:
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, timeout=NATIVE_SECONDS
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"the MPI alone takes more than {NATIVE_SECONDS} s for it")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("all right") == 3


# Compressed, or the MPI's own on pinned memory; blocking, or several on their way at once.
@pytest.mark.parametrize("codec", ["mpc", "off"])
@pytest.mark.parametrize("name", ["shim_coll_gpu", "shim_coll_nonblocking_gpu"])
def test_collectives_on_managed_memory(name: str, codec: str, mpirun: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [mpirun, "-n", "3", program(name)]
    if mpi_is_gpu_aware():
        # Such an MPI copies elements with gaps between them one by one: short arrays alone.
        command += ["0", "333"] if name == "shim_coll_gpu" else []
        run_natively_first(command)
    done = run_under_shim([], codec, report, command, "--threshold", "1KiB")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("all right") == 3
    totals = json.loads(report.read_text())
    assert totals["device_failures"] == 0
    assert (totals["collectives"]["compressed"] > 0) == (codec != "off")


# The examples of mpi4py with arrays of cupy and torch on GPUs, by an MPI that knows none.

FOLDER = Path(__file__).parents[2] / "examples" / "mpi4py"


@pytest.mark.parametrize("array", ["cupy", "torch"])
@pytest.mark.parametrize(("codec", "within"), [("mpc", 0.0), ("zfp:rate=16", 1e-3)])
def test_exchange(array: str, codec: str, within: float, mpirun: str, tmp_path: Path) -> None:  # noqa: F811
    if find_spec("mpi4py") is None or find_spec(array) is None:
        pytest.skip(f"no mpi4py, or no {array}")
    words = ["--array", array, "--within", str(within)]
    command = [mpirun, "-n", "2", sys.executable, str(FOLDER / "exchange.py"), *words]
    report = tmp_path / "report.json"
    done = run_under_shim([], codec, report, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("largest error 0\n" in done.stdout) == (within == 0), done.stdout
    check_report(report, codec)


@pytest.mark.parametrize("array", ["cupy", "torch"])
def test_communicator(array: str, mpirun: str) -> None:  # noqa: F811
    if find_spec("mpi4py") is None or find_spec(array) is None:
        pytest.skip(f"no mpi4py, or no {array}")
    words = ["--array", array, "--one-machine"]
    command = [mpirun, "-n", "2", sys.executable, str(FOLDER / "communicator.py"), *words]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
