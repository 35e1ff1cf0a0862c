"""When nothing was compressed, the end of a run says why: in one line, and only where asked for."""

import re
from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import EXCHANGE, PRODUCTION, ZFP, mpirun

pytestmark = pytest.mark.multiproc

AUTO = {"THINWIRE_CODEC": "auto", "THINWIRE_SAME_NODE": "1"}
HINT = "; `thinwire explain` and THINWIRE_LOG=plan say more"


def said(settings: dict[str, str], *words: str, mpi: Mpi = SYSTEM, **more: Path) -> list[str]:
    program = [mpi.programs / "shim_exchange", *words]
    done = mpirun(2, program, mpi.production, settings, mpi=mpi, **more)
    assert done.code == 0, done.errors
    assert "rank 1 difference 0\n" in done.output
    return done.thinwire_lines()


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_auto_says_that_it_would_not_gain(mpi: Mpi) -> None:
    (line,) = said(AUTO, mpi=mpi)
    reason = "rank 0 of 2 compressed nothing: 3 messages (would not gain)"
    assert line == f"thinwire: warning: {reason}{HINT}"


def test_with_a_report_in_a_file_the_figures_are_of_all_ranks(tmp_path: Path) -> None:
    (line,) = said(AUTO, report=tmp_path / "report.json")
    assert "nothing was compressed: 6 messages (would not gain)" in line


def test_many_small_messages_are_worth_the_line() -> None:
    (line,) = said(ZFP, "4096", "1200")
    assert "compressed nothing: 1,200 messages (below the threshold of 64KiB)" in line


@pytest.mark.parametrize(
    ("size", "raw"),
    [
        ("4096", "8 messages, 0 bytes; of those below the threshold only the number is known"),
        ("65536", "8 messages, 524288 bytes"),
    ],
)
def test_the_report_tells_bytes_that_it_has_counted(size: str, raw: str) -> None:
    """65,536 bytes are the threshold, and auto sees no gain on one machine."""
    settings = {**AUTO, "THINWIRE_REPORT": "1"}
    done = mpirun(2, [EXCHANGE, size, "4"], PRODUCTION, settings)
    assert done.code == 0, done.errors
    assert f"\n  raw         {raw}\n" in done.errors


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ZFP, ("4096", "5")),
        ({**AUTO, "THINWIRE_LOG": "error"}, ()),
        ({"THINWIRE_SAME_NODE": "1"}, ()),
        ({**ZFP, "THINWIRE_CODEC": "off"}, ()),
        ({**AUTO, "THINWIRE_DISABLE": "1"}, ()),
    ],
    ids=["a handful of small messages", "log", "bare preload", "off", "disabled"],
)
def test_silent(settings: dict[str, str], words: tuple[str, ...]) -> None:
    assert said(settings, *words) == []


def test_silent_for_one_rank() -> None:
    done = mpirun(1, [EXCHANGE], PRODUCTION, AUTO)
    assert (done.code, done.errors) == (0, "")


def test_the_report_on_standard_error_is_enough() -> None:
    done = mpirun(2, [EXCHANGE], PRODUCTION, {**AUTO, "THINWIRE_REPORT": "1"})
    assert done.code == 0 and "compressed nothing" not in done.errors
    assert "nothing was compressed" not in done.errors


def test_collectives_are_counted_by_reason_too(tmp_path: Path) -> None:
    """Those of a few floats in shim_coll_native, which the settings leave to the MPI."""
    program = [SYSTEM.programs / "shim_coll_native"]
    done = mpirun(3, program, PRODUCTION, {**ZFP, "THINWIRE_THRESHOLD": "8KiB"})
    assert done.code == 0, done.errors
    (line,) = done.thinwire_lines()
    assert "rank 0 of 3 compressed nothing: " in line
    assert "collectives (below the threshold of 8KiB)" in line


def test_collectives_that_the_settings_leave_alone_are_counted() -> None:
    done = mpirun(2, [SYSTEM.programs / "shim_coll"], PRODUCTION, AUTO)
    (line,) = done.thinwire_lines()
    assert re.search(r"nothing: [\d,]+ collectives \(below the threshold of 64KiB\)", line)
