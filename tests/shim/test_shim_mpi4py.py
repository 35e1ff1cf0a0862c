"""mpi4py's wheel under the library that `thinwire run` chooses for it: it asks the process for each
call of MPI by name, and uses what it finds."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from mpis import ALL, Mpi, linked_mpi
from shim_runs import run

from thinwire.library import built_shims

pytestmark = pytest.mark.multiproc

PROGRAM = Path(__file__).with_name("mpi4py_names.py")
# The wheel has extensions for these.
LOADED = [mpi for mpi in ALL if mpi.abi in ("openmpi", "mpich")]


@pytest.fixture(params=LOADED, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    pytest.importorskip("mpi4py")
    if request.param.abi not in built_shims():
        pytest.skip(f"no library for {request.param.abi} is installed")
    return request.param


@pytest.fixture
def settings(mpi: Mpi, tmp_path: Path) -> dict[str, str]:
    """mpi4py loads this MPI: the name that it asks for comes before all others."""
    library = linked_mpi(mpi.programs / "shim_conformance")
    wanted = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}[mpi.abi]
    folder = library.parent
    if library.name != wanted:  # Debian's
        folder = tmp_path / "named"
        folder.mkdir()
        (folder / wanted).symlink_to(library)
    return {"MPI4PY_MPIABI": mpi.abi, "LD_LIBRARY_PATH": str(folder), "PATH": os.environ["PATH"]}


@pytest.mark.parametrize(("codec", "ranks"), [("mpc", 1), ("mpc", 3), ("off", 3)])
def test_it_finds_the_calls_of_its_mpi(
    mpi: Mpi, settings: dict[str, str], codec: str, ranks: int, tmp_path: Path
) -> None:
    launcher = [shutil.which(mpi.launcher[0]) or mpi.launcher[0], *mpi.launcher[1:]]
    python = [sys.executable, PROGRAM]
    options = ["--codec", codec, "--force", "--same-node", "--threshold", "64"]
    thinwire = [sys.executable, "-m", "thinwire", "run", *options, "--"]
    report = tmp_path / "report"
    done = run([*thinwire, *launcher, "-n", str(ranks), *python], settings, report, timeout=60)
    done.all_right(ranks)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert (done.report["compressed_messages"] > 0) == (codec == "mpc")
