"""Preload libraries whose core is not there, or is another one: programs run as without them."""

import shutil
import subprocess
from pathlib import Path

import pytest
from shim_runs import EXCHANGE, ZFP, largest_differences, mpirun

from thinwire.library import library_path

pytestmark = pytest.mark.multiproc

NAME = "libthinwire.so.0"
MPI_SHIM, NCCL_SHIM = "libthinwire_mpi_openmpi4.so", "libthinwire_nccl.so"
OTHERS = {
    "another version": 'const char *tw_version(void) { return "0.0.9"; }',
    "no library": None,
}


def needs_one_core(folder: Path) -> None:
    """Under sanitizers each preload library carries the core."""
    if (
        NAME
        not in subprocess.run(
            ["strings", "-a", str(folder / MPI_SHIM)], capture_output=True, text=True, check=True
        ).stdout
    ):
        pytest.skip("this build's preload libraries carry the core")


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """The installed preload libraries, which know of no build tree, without their core."""
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in (MPI_SHIM, NCCL_SHIM):
        shutil.copy(library_path(name), folder / name)
    needs_one_core(folder)
    return folder


def put_other(folder: Path, source: str | None) -> None:
    """In the core's place, with the version of its symbols."""
    if source is None:
        (folder / NAME).write_text("no library")
        return
    (folder / "core.c").write_text(source)
    (folder / "core.map").write_text("THINWIRE_0 { global: tw_*; local: *; };")
    words = ["cc", "-shared", "-fPIC", f"-Wl,--version-script={folder}/core.map"]
    words += [f"-Wl,-soname,{NAME}", "-o", str(folder / NAME), str(folder / "core.c")]
    subprocess.run(words, check=True)


def expect_native(folder: Path, cause: str) -> None:
    done = mpirun(2, [EXCHANGE], folder / MPI_SHIM, ZFP)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0, 1: 0}
    said = [line for line in done.errors.splitlines() if "nothing is compressed" in line]
    assert len(said) == 2 and all(NAME in line and cause in line for line in said), done.errors


def test_without_a_core_programs_run_natively(alone: Path) -> None:
    expect_native(alone, "cannot open shared object file")


@pytest.mark.parametrize("what", OTHERS)
def test_another_core_is_not_taken(alone: Path, what: str) -> None:
    put_other(alone, OTHERS[what])
    expect_native(alone, "another version" if OTHERS[what] else "file too short")


def test_a_core_beside_the_library_is_taken(alone: Path) -> None:
    shutil.copy(library_path(NAME), alone / NAME)
    done = mpirun(2, [EXCHANGE], alone / MPI_SHIM, ZFP)
    assert done.code == 0 and "nothing is compressed" not in done.errors
    assert max(largest_differences(done.output).values()) > 0


@pytest.mark.parametrize("name", [MPI_SHIM, NCCL_SHIM])
def test_other_programs_do_not_mind(alone: Path, name: str) -> None:
    """As the shells that a job starts, which inherit the variable."""
    done = subprocess.run(
        ["/bin/echo", "here"],
        env={"LD_PRELOAD": str(alone / name)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "here\n" and done.stderr.count("nothing is compressed") == 1
