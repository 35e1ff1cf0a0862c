"""Calls of MPI 4 and 4.1, and errors that leave a call by an exception of C++."""

from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

FORCED = {"THINWIRE_CODEC": "lossless", "THINWIRE_SAME_NODE": "1", "THINWIRE_FORCE": "1"}
SETTINGS = {"by default": {}, "forced": FORCED, "off": {"THINWIRE_CODEC": "off"}}


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("mode", ["inactive", "large_type"])
@pytest.mark.parametrize("settings", ["by default", "forced"])
def test_new_calls(mpi: Mpi, mode: str, settings: str, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_new_calls", mode]
    done = mpirun(2, program, mpi.production, SETTINGS[settings], tmp_path / "report", mpi=mpi)
    if "no such calls" in done.output:
        pytest.skip("this MPI has no such calls")
    done.all_right(2)


@pytest.mark.parametrize("settings", SETTINGS)
def test_an_error_handler_that_throws(settings: str, tmp_path: Path) -> None:
    """An unwinder of the library's own ended the process (exit by SIGABRT)."""
    (mpi,) = (mpi for mpi in ALL if mpi.name == "openmpi")
    program = [mpi.programs / "shim_left_by_exception"]
    done = mpirun(2, program, mpi.production, SETTINGS[settings], tmp_path / "report", mpi=mpi)
    done.all_right(2)
