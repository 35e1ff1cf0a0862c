"""Worlds that one program spawns: between them messages stay raw, inside the first they do not."""

import subprocess
from pathlib import Path

import pytest
from shim_runs import MPIRUN, PROGRAMS, SHRINK, TESTING, Run, read_report, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_conformance"
RANKS = 2  # each sends one message of a case inside its world


def cases() -> int:
    listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True)
    return sum(line.startswith("dynamic ") for line in listed.stdout.splitlines())


def spawn(report: Path, launcher: dict[str, str], first: list[str]) -> Run:
    """The first world alone reports: what it spawns does not inherit what `env` sets."""
    words = ["env", *first, f"THINWIRE_REPORT={report}", str(PROGRAM), "dynamic"]
    return run([*MPIRUN, "-n", str(RANKS), *words], {**SHRINK, **launcher})


@pytest.mark.parametrize("children_have_it", [False, True])
def test_only_messages_inside_a_world_are_compressed(
    children_have_it: bool, tmp_path: Path
) -> None:
    preload = {"LD_PRELOAD": str(TESTING)}
    launcher = preload if children_have_it else {}
    first = [f"{name}={value}" for name, value in preload.items()]
    done = spawn(tmp_path / "report.json", launcher, first)
    assert (done.code, done.errors) == (0, ""), done.output
    assert done.output.count("PASS ") == cases() > 0
    report = read_report(tmp_path / "report.json")
    assert report["compressed_messages"] == report["decoded_messages"] == RANKS * cases()
    assert report["damaged_messages"] == 0
    assert report["messages"] > report["compressed_messages"]
