"""Data that does not shrink: how often the library tries, and that it notices when data changes."""

from pathlib import Path

import pytest
from shim_runs import PRODUCTION, PROGRAMS, mpirun

pytestmark = pytest.mark.multiproc

# The line that nothing was compressed comes at the end, as a warning.
SETTINGS = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1", "THINWIRE_LOG": "warning"}
DECLINED = "data declined by the codec"
SKIPPED = "not tried: data declined lately"


def report_of(report: Path, way: str, random: int, smooth: int, **settings: str) -> dict:
    """What rank 0 sent, with every message's bits checked by rank 1."""
    program = [PROGRAMS / "shim_declines", way, str(random), str(smooth)]
    done = mpirun(2, program, PRODUCTION, {**SETTINGS, **settings}, report)
    assert (done.code, done.output) == (0, ""), done.errors
    told = ["nothing was compressed: " in line for line in done.thinwire_lines()]
    assert told == ([] if smooth > 0 else [True]), done.errors
    assert done.report is not None
    return done.report


@pytest.mark.parametrize("way", ["send", "isend", "persistent"])
@pytest.mark.parametrize("codec", ["mpc", "lorenzo", "szp:abs=1e-300"])
def test_random_data_is_seldom_tried(tmp_path: Path, way: str, codec: str) -> None:
    report = report_of(tmp_path / "report", way, 200, 0, THINWIRE_CODEC=codec)
    assert report["compressed_messages"] == 0
    assert report["raw_by_reason"] == {DECLINED: 10, SKIPPED: 190}


@pytest.mark.parametrize("way", ["send", "persistent"])
def test_data_that_compresses_again_is_found(tmp_path: Path, way: str) -> None:
    """The attempts are messages 0, 1, 3, 6, 11, 20, 37, 70 and then 134."""
    report = report_of(tmp_path / "report", way, 71, 200)
    assert report["raw_by_reason"] == {DECLINED: 8, SKIPPED: 126}
    assert report["compressed_messages"] == report["decoded_messages"] == 71 + 200 - 134


def test_data_that_compresses_is_always_tried(tmp_path: Path) -> None:
    report = report_of(tmp_path / "report", "send", 0, 100)
    assert report["compressed_messages"] == 100
    assert report["raw_by_reason"] == {}


def test_a_long_run_of_declines_allocates_no_more(tmp_path: Path) -> None:
    short = report_of(tmp_path / "short", "send", 40, 0)
    long = report_of(tmp_path / "long", "send", 400, 0)
    assert long["allocations"] == short["allocations"]
