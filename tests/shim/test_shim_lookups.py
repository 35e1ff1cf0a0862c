"""Calls that a program looks up in the MPI's library, where no preload library is searched."""

import sys
from pathlib import Path

import pytest
from mpis import ALL, Mpi, linked_mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
ROUNDS = 4


@pytest.fixture(params=ALL, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


def test_looked_up_and_linked_calls_meet(mpi: Mpi, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_looked_up", linked_mpi(mpi.programs / "shim_looked_up")]
    mpirun(2, program, mpi=mpi).all_right(2)
    report = tmp_path / "report.json"
    done = mpirun(2, program, mpi.production, CODEC, report, mpi=mpi).all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == ROUNDS
    assert done.collectives["compressed"] == 2 * ROUNDS


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("binding", ["now", "lazy"])
def test_a_module_that_is_bound_deeply_meets_linked_calls(
    mpi: Mpi, binding: str, when: str, tmp_path: Path
) -> None:
    program = [
        mpi.programs / "shim_deep_host",
        mpi.programs / "libshim_deep_module.so",
        binding,
        when,
    ]
    mpirun(2, program, mpi=mpi).all_right(2)
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report.json", mpi=mpi)
    done.all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == ROUNDS
    assert done.collectives["compressed"] == 2 * ROUNDS


PYTHON = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
mpi.MPI_Init(None, None)
world = ctypes.c_void_p.in_dll(mpi, "ompi_mpi_comm_world")
rank = ctypes.c_int()
comm, kind = ctypes.byref(world), ctypes.byref(ctypes.c_void_p.in_dll(mpi, "ompi_mpi_float"))
mpi.MPI_Comm_rank(comm, ctypes.byref(rank))
values = (ctypes.c_float * 100000)(*(range(100000) if rank.value == 0 else ()))
if rank.value == 0:
    mpi.MPI_Send(values, 100000, kind, 1, 1, comm)
else:
    mpi.MPI_Recv(values, 100000, kind, 0, 1, comm, None)
mpi.MPI_Finalize()
if list(values) == list(range(100000)):
    print("all right")
"""


def test_pythons_ctypes_are_seen(tmp_path: Path) -> None:
    """Where every call is looked up, and nothing is linked to the MPI."""
    mpi = ALL[0]
    program = [sys.executable, "-c", PYTHON, linked_mpi(mpi.programs / "shim_exchange")]
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report.json").all_right(2)
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == 1
