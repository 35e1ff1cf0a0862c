"""Programs that have no memory left when a message arrives."""

from pathlib import Path

import pytest
from shim_runs import PROGRAMS, TESTING, mpirun

pytestmark = pytest.mark.multiproc

PROGRAM = [PROGRAMS / "shim_memory_limit"]
MPC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}


def test_a_receive_needs_no_memory_of_the_process(tmp_path: Path) -> None:
    alone = mpirun(2, PROGRAM)
    assert (alone.code, alone.output) == (0, "all right\n"), alone.errors
    done = mpirun(2, PROGRAM, TESTING, MPC, tmp_path / "report")
    assert (done.code, done.output) == (0, "all right\n"), done.errors
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == 3


def test_the_true_reason_is_said(tmp_path: Path) -> None:
    """Where there is no room for a file either."""
    done = mpirun(2, [*PROGRAM, "/nowhere"], TESTING, MPC, tmp_path / "report")
    assert done.code != 0
    assert "has no memory, nor room in TMPDIR" in done.errors
    assert "truncated" not in done.errors
