"""Communicators over MPI, made from mpi4py's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from thinwire.bench.programs import clean_environment
from thinwire.comm.mpi import _family
from thinwire.library import built_shims

PROGRAM = Path(__file__).with_name("mpi4py_ranks.py")
ROOT = PROGRAM.parents[2]

# How mpi4py is told which MPI to load, and what that says of itself.
SAID = {"openmpi": "Open MPI", "mpich": "MPICH"}


def environment(mpi: str, prefix: Path | None = None) -> dict[str, str]:
    mine = clean_environment() | {"MPI4PY_MPIABI": mpi, "OMPI_MCA_mpi_yield_when_idle": "1"}
    if prefix is not None:
        mine["LD_LIBRARY_PATH"] = str(prefix / "lib")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return mine | root


def launchers(mpi: str) -> list[tuple[list[str], dict[str, str]]]:
    """The system's, and those of THINWIRE_MPIS or of this tree, with the environment each needs."""
    named = os.environ.get("THINWIRE_MPIS", "").split(":")
    prefixes = [Path(name) for name in named if name] or sorted((ROOT / "build" / "mpi").glob("*"))
    options = ["--oversubscribe"] if mpi == "openmpi" else []
    system = shutil.which("mpirun.openmpi" if mpi == "openmpi" else "mpiexec.mpich")
    found = [] if system is None else [([system, *options], environment(mpi))]
    for prefix in prefixes:
        program = prefix / "bin" / "mpiexec"
        if prefix.name.startswith(mpi) and program.exists():
            found.append(([str(program), *options], environment(mpi, prefix)))
    return found


@pytest.fixture(scope="module", params=SAID)
def launcher(request) -> tuple[list[str], dict[str, str]]:
    """The first one whose MPI mpi4py can load."""
    pytest.importorskip("mpi4py")
    if request.param not in built_shims():
        pytest.skip(f"no library for {SAID[request.param]} is built")
    probe = [sys.executable, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"]
    for words, mine in launchers(request.param):
        command = [*words, "-n", "1", *probe]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=mine)
        if SAID[request.param] in done.stdout:
            return words, mine
    pytest.skip(f"no {SAID[request.param]} that mpi4py can load")


@pytest.mark.multiproc
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_same_words_give_the_same_as_mpi4py(launcher, ranks):
    words, mine = launcher
    command = [*words, "-n", str(ranks), sys.executable, str(PROGRAM), "mpc"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=mine)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line for line in done.stdout.splitlines() if line]
    assert said == ["13 calls agree", "compressed", "two levels agree", "refused"]


def test_without_an_mpi_there_is_no_transport():
    with pytest.raises(RuntimeError, match="no MPI"):
        _family()
