"""The examples of mpi4py with arrays of cupy and torch on GPUs, by an MPI that knows none."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_gpu_shim import check_report, environment, mpirun, run_under_shim  # noqa: F401

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
