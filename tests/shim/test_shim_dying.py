"""A rank that dies amid large messages: the job ends as it does without the library."""

import time
from pathlib import Path

import pytest
from mpis import OTHERS, Mpi
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


# Communicators that the program revokes: what calls on them come to, and who is interrupted.


REVOKING = [mpi for mpi in OTHERS if (mpi.programs / "shim_revoked").exists()]
CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_THRESHOLD": "256", "THINWIRE_SAME_NODE": "1"}


def tolerant(mpi: Mpi) -> Mpi:
    return Mpi(mpi.name, mpi.abi, (*mpi.launcher, "--with-ft", "ulfm"), mpi.programs)


def classes(mpi: Mpi, options: list[str], report: Path | None = None) -> tuple[set[str], Run]:
    library, settings = (None, {}) if report is None else (mpi.production, CODEC)
    program = [mpi.programs / "shim_revoked", *options]
    done = mpirun(2, program, library, settings, report, mpi=tolerant(mpi))
    assert done.code == 0, done.output + done.errors
    # A short send may be over before the MPI looks: natively too, by its length and the moment.
    lines = done.output.splitlines()
    return {line for line in lines if "start of a send" not in line}, done


@pytest.mark.parametrize("options", ["", "--threads 1", "--one 1", "--one 1 --threads 1"])
def test_calls_on_a_revoked_communicator(options: str, tmp_path: Path) -> None:
    if not REVOKING:
        pytest.skip("no Open MPI 5 here")
    for mpi in REVOKING:
        native, _ = classes(mpi, options.split())
        assert len(native) == 2 * 14 - 2, native
        ours, done = classes(mpi, options.split(), tmp_path / mpi.name)
        assert ours == native
        assert done.report is not None
        assert done.report["collectives"]["compressed"] > 2, done.report


# Rates at which messages travel whole and in parts; calls are timed if nothing is forced.
WAYS = {
    "whole": {"THINWIRE_LINK": "100gbit", "THINWIRE_FORCE": "1"},
    "parts": {"THINWIRE_LINK": "1gbit", "THINWIRE_FORCE": "1"},
    "timed": {"THINWIRE_LINK": "1mbit"},
}
TRIES = 3  # what goes wrong does not in every run


@pytest.mark.parametrize("how", ["dies", "amid", "revokes"])
@pytest.mark.parametrize("way", WAYS)
def test_the_others_go_on_without_a_rank(way: str, how: str) -> None:
    """One that dies, before or amid a collective, or one that revokes the communicator."""
    if not REVOKING:
        pytest.skip("no Open MPI 5 here")
    ranks = 4
    survivors = ranks if how == "revokes" else ranks - 1
    settings = {**CODEC, **WAYS[way]}
    for mpi in REVOKING:
        program = [mpi.programs / "shim_lost_rank", "allgather", "65536", "4", how]
        for _ in range(TRIES):
            done = mpirun(ranks, program, mpi.production, settings, mpi=tolerant(mpi))
            assert done.output.count(f"goes on with {survivors} of {ranks}: right") == survivors, (
                done.output + done.errors
            )
