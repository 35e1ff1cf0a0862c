"""Fortran programs under the library: by mpif.h, the module mpi and the module mpi_f08.

They are compiled here, with the MPI's own compiler command: what a Fortran module holds is fit for
one compiler only. Open MPI's Fortran calls reach the library by PMPI names, MPICH's by MPI names.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from mpis import ALL, Mpi, libraries, linked_mpi
from shim_runs import ROOT, SHRINK, preloaded, run

from thinwire.library import built_shims

pytestmark = pytest.mark.multiproc

SOURCES = ROOT / "tests" / "shim" / "fortran"
CASES = 9


@dataclass(frozen=True)
class Binding:
    """An MPI that has Fortran: Debian's names."""

    compiler: str
    launcher: tuple[str, ...]
    library: Path

    def why_not(self) -> str | None:
        if shutil.which("gfortran") is None:
            return "no gfortran"
        missing = next(
            (tool for tool in (self.compiler, self.launcher[0]) if not which(tool)), None
        )
        if missing is not None:
            return f"no {missing}"
        return None if self.library.exists() else f"no {self.library.name} in this build"


def which(tool: str) -> bool:
    return shutil.which(tool) is not None


# The first library stands for an MPI that is not at hand, which is skipped.
LIBRARY = {mpi: libraries(mpi, "_testing")[0] for mpi in ("openmpi", "mpich")}
LIBRARY |= {mpi.name: mpi.testing for mpi in ALL}
BINDINGS = {
    "openmpi": Binding("mpif90.openmpi", ("mpirun.openmpi", "--oversubscribe"), LIBRARY["openmpi"]),
    "mpich": Binding("mpif90.mpich", ("mpiexec.mpich",), LIBRARY["mpich"]),
}


@pytest.fixture(scope="module", params=BINDINGS)
def binding(request: pytest.FixtureRequest) -> Binding:
    chosen = BINDINGS[request.param]
    reason = chosen.why_not()
    if reason is not None:
        pytest.skip(reason)
    return chosen


@pytest.fixture(scope="module", params=["mpif_h.f", "use_mpi.f90", "use_mpi_f08.f90"])
def program(
    binding: Binding, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("fortran")
    made = folder / "exchanges"
    # One call with buffers of several types is what mpif.h has no interface for.
    words = [binding.compiler, "-w", "-fallow-argument-mismatch", "-o", made]
    subprocess.run([*words, SOURCES / request.param], check=True, cwd=folder)
    return made


def words_of(binding: Binding, program: Path, library: Path | None) -> list[str]:
    return [*binding.launcher, "-n", "2", *preloaded([program], library)]


def test_programs_are_right_without_the_library(binding: Binding, program: Path) -> None:
    done = run(words_of(binding, program, None))
    assert (done.code, done.output.count("PASS ")) == (0, CASES), done.output + done.errors


def test_messages_of_fortran_are_compressed(
    binding: Binding, program: Path, tmp_path: Path
) -> None:
    done = run(words_of(binding, program, binding.library), SHRINK, tmp_path / "report.json")
    assert (done.code, done.output.count("PASS ")) == (0, CASES), done.output + done.errors
    assert done.report is not None
    assert done.report["damaged_messages"] == 0
    assert done.report["compressed_messages"] == done.report["decoded_messages"] >= 2 * CASES


# mpi4py's wheel under the library that `thinwire run` chooses for it: it asks the process for
# each call of MPI by name, and uses what it finds.


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
