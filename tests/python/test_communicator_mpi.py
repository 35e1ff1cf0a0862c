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

pytestmark = pytest.mark.multiproc


@pytest.fixture
def launcher() -> list[str]:
    """Open MPI's mpirun, which the mpi4py here is of."""
    pytest.importorskip("mpi4py")
    found = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if found is None:
        pytest.skip("no mpirun on this machine")
    if "openmpi" not in built_shims():
        pytest.skip("no library for Open MPI is built")
    probe = "from mpi4py import MPI; print(MPI.Get_library_version())"
    words = [sys.executable, "-c", probe]
    said = subprocess.run(words, capture_output=True, text=True, env=environment()).stdout
    if "Open MPI" not in said:
        pytest.skip("mpi4py is of another MPI")
    return [found, "--oversubscribe"]


def environment() -> dict[str, str]:
    mine = clean_environment()
    for name in ("PYTHONPATH", "THINWIRE_LIBRARY_DIR"):
        if name in os.environ:
            mine[name] = os.environ[name]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return mine | root | {"OMPI_MCA_mpi_yield_when_idle": "1"}


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_same_words_give_the_same_as_mpi4py(launcher, ranks):
    command = [*launcher, "-n", str(ranks), sys.executable, str(PROGRAM), "mpc"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["13 calls agree", "compressed", "refused"]


def test_without_an_mpi_there_is_no_transport():
    with pytest.raises(RuntimeError, match="no MPI"):
        _family()
