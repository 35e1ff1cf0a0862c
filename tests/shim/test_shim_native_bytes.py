"""What collectives carry that stay the MPI's own, in total and by why they do."""

from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

RANKS = 3
BLOCK = 10 * 4  # floats
LISTS = (1 + 2 + 3) * 4

BY_NAME_ALONE = {
    "Gatherv": LISTS,
    "Scatterv": LISTS,
    "Alltoallv": RANKS * LISTS,
    "Alltoallw": RANKS * RANKS * 4,
}
BELOW = {
    "Bcast": BLOCK,
    "Reduce, in place at the root": RANKS * BLOCK,
    "Allreduce, in place": RANKS * BLOCK,
    "Reduce_scatter": RANKS * LISTS,
    "Reduce_scatter_block, in place": RANKS * RANKS * BLOCK,
    "Allgather": RANKS * BLOCK,
    "Allgather, in place": RANKS * BLOCK,
    "Gather, in place at the root": RANKS * BLOCK,
    "Scatter": RANKS * BLOCK,
    "Alltoall": RANKS * RANKS * BLOCK,
    "Allgatherv, in place": LISTS,
    "Iallreduce": RANKS * BLOCK,
}
OF_ITSELF = RANKS * BLOCK
BETWEEN_GROUPS = {
    "Bcast": BLOCK,
    "Allreduce": RANKS * BLOCK,
    "Gather": 2 * BLOCK,
    "Scatter": 2 * BLOCK,
    "Alltoall": 4 * BLOCK,
}
INTEGERS = RANKS * 4000 * 4

CALLS = {
    "below the threshold": RANKS * len(BELOW),
    "not named in THINWIRE_COLLECTIVES": RANKS * len(BY_NAME_ALONE),
    "between groups or of one process": RANKS * (1 + len(BETWEEN_GROUPS)),
    "datatype not taken by the codec": RANKS,
}
BYTES = {
    "below the threshold": sum(BELOW.values()),
    "not named in THINWIRE_COLLECTIVES": sum(BY_NAME_ALONE.values()),
    "between groups or of one process": OF_ITSELF + sum(BETWEEN_GROUPS.values()),
    "datatype not taken by the codec": INTEGERS,
}
SETTINGS = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1", "THINWIRE_THRESHOLD": "4096"}


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_each_call_counts_what_its_ranks_give(mpi: Mpi, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_coll_native"]
    done = mpirun(RANKS, program, mpi.production, SETTINGS, tmp_path / "report", mpi=mpi)
    if done.code != 0 and mpirun(RANKS, program, mpi=mpi).code != 0:
        pytest.skip("this MPI fails without the library too")
    assert done.code == 0, done.output + done.errors
    assert done.report is not None
    found = done.report["collectives"]
    assert found["native_by_reason"] == CALLS
    assert found["native_calls"] == sum(CALLS.values())
    assert found["native_bytes_by_reason"] == BYTES
    assert found["native_bytes"] == sum(BYTES.values())


def test_the_text_says_it_too(tmp_path: Path) -> None:
    program = [SYSTEM.programs / "shim_coll_native"]
    settings = {**SETTINGS, "THINWIRE_REPORT": "1"}
    done = mpirun(RANKS, program, SYSTEM.production, settings)
    assert done.code == 0, done.output + done.errors
    assert f"{sum(BYTES.values())} bytes in those (" in done.errors
    for why, carried in BYTES.items():
        assert f"{why}: {carried}" in done.errors


# One rank alone can see some of its sides of a collective: it must not go another way for it.


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
