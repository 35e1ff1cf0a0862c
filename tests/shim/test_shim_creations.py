"""Communicators that the program makes while the library would make one of its own."""

from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
MAKING = "the program is making communicators"
LATER = 16


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("mode", ["threads", "amid", "after", "idup"])
def test_all_ranks_get_on(mpi: Mpi, mode: str, tmp_path: Path) -> None:
    """Each rank waits for the others in another order than the library's communicators would."""
    ranks = 3 if mode == "threads" else 2
    program = [mpi.programs / "shim_coll_creations", mode]
    done = mpirun(ranks, program, mpi.production, CODEC, tmp_path / "report", 100, mpi)
    if "one thread at a time" in done.output:
        pytest.skip("this MPI has no MPI_THREAD_MULTIPLE")
    done.all_right(ranks)
    # What comes after all that is compressed, if not at once.
    assert done.collectives["compressed"] >= ranks * (LATER - 6)


def test_what_cannot_be_made_is_made_later(tmp_path: Path) -> None:
    (mpi,) = (mpi for mpi in ALL if mpi.name == "openmpi")
    program = [mpi.programs / "shim_coll_creations", "idup"]
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report", mpi=mpi).all_right(2)
    assert done.collectives["native_by_reason"] == {MAKING: 2}
    assert done.collectives["compressed"] == 2 * LATER
