"""A library with other calls than the program's MPI, preloaded by its full path: the program runs
as without it or compressed, and the library says what does not fit."""

import sys
from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi, libraries, linked_mpi
from shim_runs import EXCHANGE, ZFP, largest_differences, mpirun

pytestmark = pytest.mark.multiproc

OF_FEWER = [mpi for mpi in ALL if mpi.production != libraries(mpi.abi)[0]]
OF_MORE = [mpi for mpi in ALL if mpi.production != libraries(mpi.abi)[-1]]

# Asks for calls by name, as Python's extensions do, and calls what it finds.
ASKS = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
process = ctypes.CDLL(None)
process.MPI_Init(None, None)
flag, request, session = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
print(process.MPI_Session_init(None, None, ctypes.byref(session)) != 0,
      process.MPI_Isendrecv_replace(None, 0, None, 0, 0, 0, 0, None, ctypes.byref(request)) != 0)
process.MPI_Finalize()
"""


@pytest.mark.parametrize("mpi", OF_FEWER, ids=lambda mpi: mpi.name)
def test_all_goes_raw_where_calls_of_the_mpi_would_pass_by(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.programs / EXCHANGE.name
    done = mpirun(2, [program], libraries(mpi.abi)[0], ZFP, tmp_path / "report", mpi=mpi)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0, 1: 0}
    assert done.report is None
    (line,) = done.thinwire_lines()
    assert "this MPI has MPI_" in line and "all messages go raw" in line


@pytest.mark.parametrize("mpi", OF_MORE, ids=lambda mpi: mpi.name)
def test_calls_that_the_mpi_lacks_are_said(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.programs / EXCHANGE.name
    done = mpirun(2, [program], libraries(mpi.abi)[-1], ZFP, tmp_path / "report", mpi=mpi)
    assert done.code == 0, done.errors
    assert all(0 < lost < 1e-3 for lost in largest_differences(done.output).values())
    (line,) = done.thinwire_lines()
    assert "is for an MPI that has MPI_" in line and "thinwire shim mpi" in line


@pytest.mark.skipif(SYSTEM not in OF_MORE, reason="the system's MPI has every call")
def test_calling_them_is_an_error() -> None:
    library = linked_mpi(SYSTEM.programs / "shim_conformance")
    words = [sys.executable, "-c", ASKS, library]
    done = mpirun(1, words, libraries(SYSTEM.abi)[-1], {"THINWIRE_CODEC": "off"})
    assert (done.code, done.output.strip()) == (0, "True True"), done.errors
