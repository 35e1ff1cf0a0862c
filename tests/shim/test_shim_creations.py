"""Communicators that the program makes while the library would make one of its own."""

from pathlib import Path

import pytest
from mpis import ALL, OTHERS, Mpi
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
    # Calls after all creations are compressed, if not at once.
    assert done.collectives["compressed"] >= ranks * (LATER - 6)


def test_what_cannot_be_made_is_made_later(tmp_path: Path) -> None:
    (mpi,) = (mpi for mpi in ALL if mpi.name == "openmpi")
    program = [mpi.programs / "shim_coll_creations", "idup"]
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report", mpi=mpi).all_right(2)
    assert done.collectives["native_by_reason"] == {MAKING: 2}
    assert done.collectives["compressed"] == 2 * LATER


def test_a_creation_beside_a_shrink(tmp_path: Path) -> None:
    """As "amid": one thread waits in a call that makes a communicator of those who are left."""
    shrinking = [mpi for mpi in OTHERS if mpi.abi == "openmpi"]
    if not shrinking:
        pytest.skip("no Open MPI 5 here")
    for mpi in shrinking:
        launcher = (*mpi.launcher, "--with-ft", "ulfm")
        tolerant = Mpi(mpi.name, mpi.abi, launcher, mpi.programs)
        program = [mpi.programs / "shim_coll_creations", "shrink"]
        done = mpirun(2, program, mpi.production, CODEC, tmp_path / mpi.name, 60, tolerant)
        done.all_right(2)
        assert done.collectives["native_by_reason"].get(MAKING, 0) > 0
        assert done.collectives["compressed"] >= 2 * (LATER - 6)


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_a_creation_that_is_left_by_a_jump_has_ended(mpi: Mpi, tmp_path: Path) -> None:
    """A destructor that does not run kept all later collectives raw."""
    program = [mpi.programs / "shim_coll_creations", "left"]
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report", mpi=mpi).all_right(2)
    assert done.collectives["compressed"] == 2 * LATER


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_what_is_under_way_is_freed_as_natively(mpi: Mpi, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_coll_creations", "freed"]
    native = mpirun(2, program, mpi=mpi)
    if "one thread at a time" in native.output:
        pytest.skip("this MPI has no MPI_THREAD_MULTIPLE")
    ours = mpirun(2, program, mpi.production, CODEC, tmp_path / "report", mpi=mpi).all_right(2)

    def answers(output: str) -> list[str]:
        # MPICH 5 frees collectives that are under way, MPICH 4 does not; compressed ones are freed.
        looked_at = ("duplicate", "broadcast") if mpi.abi == "openmpi" else ("duplicate",)
        return sorted(line for line in output.splitlines() if line.startswith(looked_at))

    assert answers(ours.output) == answers(native.output)
    assert len(answers(ours.output)) >= 2


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_several_duplicates_are_under_way(mpi: Mpi, tmp_path: Path) -> None:
    """Open MPI hangs if it is asked about one of them before the next is begun."""
    program = [mpi.programs / "shim_coll_creations", "idups"]
    for turn in range(3):
        done = mpirun(4, program, mpi.production, CODEC, tmp_path / str(turn), 60, mpi)
        done.all_right(4)
