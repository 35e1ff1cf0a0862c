"""What one rank alone can see of its sides of a collective: it must not go another way for it."""

from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

LOSSLESS = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}


def of_openmpi() -> list[Mpi]:
    """The others refuse overlapping sides before they send anything."""
    return [mpi for mpi in ALL if mpi.abi == "openmpi"]


@pytest.mark.parametrize("what", ["gather", "scatter", "allgather"])
@pytest.mark.parametrize("mpi", of_openmpi(), ids=lambda mpi: mpi.name)
def test_sides_that_overlap_on_one_rank(mpi: Mpi, what: str, tmp_path: Path) -> None:
    words = [mpi.programs / "shim_own_sides", what]
    mpirun(2, words, mpi=mpi).all_right(2)
    report = tmp_path / "report"
    done = mpirun(2, words, mpi.production, LOSSLESS, report, mpi=mpi).all_right(2)
    assert done.collectives["compressed"] == 2 * 8


@pytest.mark.parametrize("what", ["short-allgather", "short-gather", "short-alltoall"])
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_a_side_that_is_too_short_on_one_rank(mpi: Mpi, what: str) -> None:
    """Natively the others may have success; what matters is that all come back, and why."""
    words = [mpi.programs / "shim_own_sides", what]
    done = mpirun(2, words, mpi.production, LOSSLESS, mpi=mpi)
    assert "rank 1: truncated" in done.output, done.output + done.errors
    assert "rank 0: " in done.output, done.output + done.errors
    assert "send and receive sides say different lengths of one block" in done.errors


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_a_broadcast_that_is_longer_than_its_room(mpi: Mpi) -> None:
    words = [mpi.programs / "shim_own_sides", "long-bcast"]
    done = mpirun(2, words, mpi.production, LOSSLESS, mpi=mpi, timeout=30)
    assert "rank 1: truncated" in done.output, done.output + done.errors
    assert "the ranks' counts differ" in done.errors


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_datatypes_that_are_not_committed_are_refused(mpi: Mpi) -> None:
    words = [mpi.programs / "shim_own_sides", "uncommitted"]
    mpirun(2, words, mpi=mpi).all_right(2)
    mpirun(2, words, mpi.production, LOSSLESS, mpi=mpi).all_right(2)
