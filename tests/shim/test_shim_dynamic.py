"""Worlds that one program spawns: between them messages stay raw, inside the first they do not."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from shim_runs import MPIRUN, PROGRAMS, SHRINK, SPAWNING, TESTING, Run, read_report, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_conformance"
SPAWNER = PROGRAMS / "shim_spawning"
RANKS = 2  # each sends one message of a case, or of a round, inside its world
ROUNDS = 25


def cases() -> int:
    listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True)
    return sum(line.startswith("dynamic ") for line in listed.stdout.splitlines())


def spawn(
    report: Path,
    launcher: dict[str, str],
    first: list[str],
    program: tuple[str | Path, ...] = (PROGRAM, "dynamic"),
    timeout: float = 60,
) -> Run:
    """The first world alone reports: what it spawns does not inherit what `env` sets."""
    words = ["env", *first, f"THINWIRE_REPORT={report}", *program]
    return run(
        [*MPIRUN, "-n", str(RANKS), *words], {**SHRINK, **SPAWNING, **launcher}, timeout=timeout
    )


@contextmanager
def busy_machine(processes: int = 4) -> Iterator[None]:
    started = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.parametrize("children_have_it", [False, True])
def test_only_messages_inside_a_world_are_compressed(
    children_have_it: bool, tmp_path: Path
) -> None:
    preload = {"LD_PRELOAD": str(TESTING)}
    launcher = preload if children_have_it else {}
    first = [f"{name}={value}" for name, value in preload.items()]
    done = spawn(tmp_path / "report.json", launcher, first)
    assert done.code == 0, done.output + done.errors
    # A job of children sends to its parents alone, and says that none of it was compressed.
    told = done.errors.splitlines()
    assert bool(told) == children_have_it, done.errors
    assert all("compressed nothing: " in line and "without this Thinwire" in line for line in told)
    assert done.output.count("PASS ") == cases() > 0
    report = read_report(tmp_path / "report.json")
    assert report["compressed_messages"] == report["decoded_messages"] == RANKS * cases()
    assert report["damaged_messages"] == 0
    assert report["messages"] > report["compressed_messages"]


@pytest.mark.slow
@pytest.mark.parametrize("with_library", [False, True], ids=["natively", "library"])
def test_jobs_start_while_others_end(with_library: bool, tmp_path: Path) -> None:
    """On a busy machine, where launcher and ranks wait for the processor at every step."""
    preload = {"LD_PRELOAD": str(TESTING)} if with_library else {}
    with busy_machine():
        done = spawn(tmp_path / "report.json", preload, [], (SPAWNER, str(ROUNDS)), timeout=300)
    assert (done.code, done.errors) == (0, ""), done.output
    assert done.output.count("round ") == ROUNDS
    if with_library:
        report = read_report(tmp_path / "report.json")
        assert report["compressed_messages"] == report["decoded_messages"] == RANKS * ROUNDS
