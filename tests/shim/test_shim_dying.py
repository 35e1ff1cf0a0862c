"""A rank that dies amid large messages: the job ends as it does without the library."""

import time
from pathlib import Path

import pytest
from shim_runs import PROGRAMS, SHRINK, TESTING, Run, mpirun

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_dying"
MOMENTS = [
    "between_messages",
    "while_receiving",
    "while_sending",
    "after_a_probe",
    "while_probed",
]
BOUND_S = 40  # below the alarm of the program, which would end it too


def survivor_of(done: Run) -> int:
    (line,) = [line for line in done.output.splitlines() if line.startswith("process ")]
    return int(line.split()[1])


def is_gone(process: int, patience_s: float = 10) -> bool:
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if not Path(f"/proc/{process}").exists():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_death_ends_the_job_as_without_the_library(moment: str) -> None:
    native = mpirun(2, [PROGRAM, moment], timeout=BOUND_S)
    done = mpirun(2, [PROGRAM, moment], TESTING, SHRINK, timeout=BOUND_S)
    assert native.code not in (None, 0), native.output
    assert done.code == native.code, done.output + done.errors
    assert "came to the end" not in done.output
    assert is_gone(survivor_of(done))
    assert done.thinwire_lines() == []
