"""MPI programs one of whose ranks is refused threads: they go on, and the library says why."""

from pathlib import Path

import pytest
from mpis import ALL, BUILD, Mpi
from shim_runs import Run, mpirun
from test_shim_collectives import LOSSLESS, native, skip_without_threads

pytestmark = pytest.mark.multiproc

REFUSE = BUILD / "tests" / "shim" / "libshim_refuse_threads.so"
NO_THREAD = "a rank has no thread to serve compressed calls"
NOT_YET = "non-blocking before the first blocking one"
WAYS, PERSISTENT, STARTS = 6, 2, 3
COMMUNICATORS, AHEAD = 12, 8  # those that have a thread before anybody wants it
MANY, HELD = 70, 64


# Open MPI 4.1 has no persistent collectives, and those of MPICH 4.0 and Intel MPI lose data.
def has_persistent(mpi: Mpi) -> bool:
    return mpi.name not in ("openmpi", "mpich") and not mpi.name.startswith("impi")


def refused(mpi: Mpi, case: str, report: Path) -> Run:
    words = [case, "persistent" if has_persistent(mpi) else "none"]
    program: list[str | Path] = [mpi.programs / "shim_coll_refused", *words]
    library = Path(f"{REFUSE}:{mpi.production}")
    done = mpirun(2, program, library, LOSSLESS, report, timeout=40, mpi=mpi).all_right(2)
    skip_without_threads(done)
    return done


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_a_rank_without_threads_goes_on(mpi: Mpi, when: str, tmp_path: Path) -> None:
    """Non-blocking ones stay native until it has a thread, which it keeps; each persistent one that
    is made meanwhile is native."""
    done = refused(mpi, when, tmp_path / "report")
    persistent = PERSISTENT if has_persistent(mpi) else 0
    started = WAYS * (1 if when == "before" else 2) + STARTS * persistent
    left = (WAYS if when == "before" else 0) + persistent
    assert done.collectives["compressed"] == 2 * (1 + started)
    assert native(done) == ({NO_THREAD: 2 * left} if left else {})
    said = [line for line in done.thinwire_lines() if "rank 1: the system refuses a thread" in line]
    assert len(said) == (1 if left else 0)


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_a_process_holds_few_threads(mpi: Mpi, tmp_path: Path) -> None:
    """Of communicators beyond some a barrier makes the thread, after the first call wants it;
    from then on each has one."""
    done = refused(mpi, "many", tmp_path / "report")
    late, persistent = COMMUNICATORS - AHEAD, MANY if has_persistent(mpi) else 0
    left = {NOT_YET: 2 * late} | ({NO_THREAD: 2 * (MANY - HELD)} if persistent else {})
    assert native(done) == left
    entered = COMMUNICATORS * 3 - late + 2 + min(persistent, HELD)
    assert done.collectives["compressed"] == 2 * entered
    assert not [line for line in done.thinwire_lines() if "refuses" in line]
