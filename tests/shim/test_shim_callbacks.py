"""Calls in delete callbacks of attributes, and MPI that starts more than once."""

from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import Run, mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
SUMS = {**CODEC, "THINWIRE_CODEC": "szp:allreduce-abs=1e-9"}
AGAIN = [mpi for mpi in ALL if (mpi.programs / "shim_sessions_again").exists()]


@pytest.fixture(params=ALL, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


@pytest.mark.parametrize("what", ["receive", "free", "free-first", "both", "delete"])
def test_calls_in_delete_callbacks(mpi: Mpi, what: str, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_callbacks", what]
    mpirun(2, program, mpi=mpi).all_right(2)
    report = tmp_path / "report.json"
    done = mpirun(2, program, mpi.production, CODEC, report, mpi=mpi).all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"]
    is_message = what == "receive"
    assert done.report["compressed_messages"] == (1 if is_message else 0)
    # Each rank counts its calls.
    of_each = {"receive": 0, "free": 3, "free-first": 2, "both": 2, "delete": 3}
    in_callbacks = 3 * 2 * of_each[what]
    assert done.collectives["compressed"] == in_callbacks + (0 if is_message else 2)


def test_a_sum_in_the_end_of_one_rank(mpi: Mpi) -> None:
    program = [mpi.programs / "shim_callbacks", "sum"]
    mpirun(2, program, mpi.production, SUMS, mpi=mpi).all_right(2)


# Natively too MPICH 5.0.2 ends some runs (3 of 25 on a busy machine) in a gathering of its own: a
# message is truncated, or what UCX gets is no address.
OF_MPICH = ("Fatal error in internal_Comm_create_from_group", "Fatal error in internal_Init")


def of_sessions(mpi: Mpi, library: Path | None = None, report: Path | None = None) -> Run:
    """A run that MPICH does not end by itself."""
    settings = {} if library is None else CODEC
    for _ in range(5):
        done = mpirun(2, [mpi.programs / "shim_sessions_again"], library, settings, report, mpi=mpi)
        if not any(fault in done.errors for fault in OF_MPICH):
            break
    return done.all_right(2)


def test_sessions_begin_again(tmp_path: Path) -> None:
    if not AGAIN:
        pytest.skip("no MPI here has sessions that begin again")
    for mpi in AGAIN:
        of_sessions(mpi)
        done = of_sessions(mpi, mpi.production, tmp_path / mpi.name)
        assert done.report is not None
        assert done.report["compressed_messages"] == 4, done.report
        assert done.collectives["compressed"] == 2 * 4
