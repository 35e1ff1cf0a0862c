"""Many requests at once: completing some of them takes about as long as without the library."""

from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import Run, mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
# Receives are looked at from 16 KiB on, and messages compressed from 64 on.
BYTES = "20000"
LEVELS = {"single": ["3000", BYTES], "multiple": ["2000", BYTES, "multiple"]}


def times(done: Run) -> dict[str, float]:
    lines = [line.split() for line in done.output.splitlines()]
    return {words[0]: float(words[1]) for words in lines if words[0] != "all"}


@pytest.mark.alone
@pytest.mark.parametrize("level", LEVELS)
def test_completing_some_takes_no_longer(level: str) -> None:
    program = [SYSTEM.programs / "shim_many_requests", *LEVELS[level]]
    natively = times(mpirun(2, program, timeout=120).all_right(2))
    here = times(mpirun(2, program, SYSTEM.production, CODEC, timeout=120).all_right(2))
    assert set(here) == {"waitany", "testany", "waitsome", "testsome", "testall"}
    assert all(here[way] < 3 * natively[way] + 40 for way in here), (natively, here)


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_threads_complete_some_of_theirs(mpi: Mpi, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_many_requests", "threads"]
    report = tmp_path / "report.json"
    done = mpirun(2, program, mpi.production, CODEC, report, timeout=120, mpi=mpi).all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"]
