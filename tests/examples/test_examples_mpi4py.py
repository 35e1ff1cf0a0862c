"""The examples of mpi4py: as they are, under the preload library, by Thinwire's communicator."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from thinwire.bench.programs import Loopback, under_shim
from thinwire.library import built_shims

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "mpi4py"
TORCH = Path(os.environ.get("THINWIRE_TEST_TORCH", ROOT / "build" / "torch-venv"))

pytestmark = [
    pytest.mark.multiproc,
    pytest.mark.skipif(find_spec("mpi4py") is None, reason="no mpi4py"),
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun on this machine"),
    pytest.mark.skipif("openmpi" not in built_shims(), reason="no library for Open MPI is built"),
]


@pytest.fixture
def array(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """torch, where `make torch` has put it, with this environment's other packages. Ranks that wait
    leave the processors to others."""
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
    if request.param == "torch":
        found = sorted(TORCH.glob("lib/python*/site-packages"))
        if not (TORCH / ".ready").exists() or not found:
            pytest.skip(f"no torch in {TORCH}: `make torch` installs it")
        if f"python{sys.version_info[0]}.{sys.version_info[1]}" not in str(found[0]):
            pytest.skip("the torch of tests is another Python's")
        monkeypatch.setenv("PYTHONPATH", str(found[0]))
    if "Open MPI" not in _mpi_that_mpi4py_loads():
        pytest.skip("mpi4py loads another MPI")
    return str(request.param)


@cache
def _mpi_that_mpi4py_loads() -> str:
    probe = "from mpi4py import MPI; print(MPI.Get_library_version())"
    done = Loopback().run(["mpirun", "-n", "1", sys.executable, "-c", probe], 60)
    return done.stdout


def run(script: str, *words: object) -> list[str]:
    return ["mpirun", "-n", "2", sys.executable, str(FOLDER / script), *map(str, words)]


def passed(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("array", ["numpy", "torch"], indirect=True)
def test_exchange(array: str, tmp_path: Path) -> None:
    words = ("--array", array, "--count", 100_000)
    codecs: list[tuple[str, float]] = [("szp:abs=1e-3", 1e-3)]
    if array == "numpy":
        said = passed(Loopback().run(run("exchange.py", *words), 100))
        assert said.endswith("largest error 0\n"), said
        codecs.append(("mpc", 0))
    for codec, within in codecs:
        report = tmp_path / f"{within}.json"
        command = run("exchange.py", *words, "--within", within)
        command = under_shim(codec, report, ["--same-node", "--threshold", "1KiB"], command)
        said = passed(Loopback().run(command, 100))
        assert said.endswith("largest error 0\n") == (within == 0), said
        assert json.loads(report.read_text())["compressed_messages"] > 0


@pytest.mark.parametrize(
    "array", ["numpy", pytest.param("torch", marks=pytest.mark.slow)], indirect=True
)
def test_communicator(array: str) -> None:
    command = run("communicator.py", "--array", array, "--count", 100_000, "--one-machine")
    said = passed(Loopback().run(command, 100))
    sent = int(said.split(": ")[1].partition(" ")[0])
    assert 0 < sent < 400_000, said
