"""When nothing of an NCCL program was compressed, its end says why: in one line, and only where
compression was asked for."""

from pathlib import Path
from subprocess import Popen

import pytest
from test_nccl_shim import PROGRAMS, SILENCE, run_whole, start

pytestmark = pytest.mark.multiproc

CALLS = PROGRAMS / "nccl_calls"
HINT = "THINWIRE_REPORT=1 and THINWIRE_LOG=plan say more"
BEGIN = f"thinwire: warning: rank 0 of 4 {SILENCE}"


def test_auto_says_that_it_knows_no_link() -> None:
    output, errors = run_whole(CALLS, CODEC="auto")
    left = "28 calls (the link's rate is not known), 4 calls (below the threshold of 64KiB)"
    advice = "name a codec, as lossless, or the link's rate"
    assert (output, errors) == ("ok\n", f"{BEGIN}{left}; {advice}; {HINT}\n")


def test_reasons_come_by_their_number(tmp_path: Path) -> None:
    """Beside a report in a file, too."""
    output, errors = run_whole(CALLS, gpus=True, CODEC="lossless", REPORT=tmp_path / "report")
    left = ", ".join(
        [
            "16 calls (no GPU that this build could use)",
            "8 calls (datatype not taken by the codec)",
            "4 calls (below the threshold of 64KiB)",
            "4 calls (operation not done compressed)",
        ]
    )
    assert (output, errors) == ("ok\n", f"{BEGIN}{left}; {HINT}\n")


def test_calls_that_end_before_ranks_have_agreed() -> None:
    output, errors = run_whole(CALLS, CODEC="lossless")
    assert output == "ok\n" and errors.startswith(BEGIN) and errors.count("\n") == 1
    assert "not known yet who has the library" in errors or "not agreed yet" in errors


def test_small_calls_are_worth_the_line_where_there_are_many() -> None:
    output, errors = run_whole(PROGRAMS / "nccl_coded", "30", CODEC="lossless", THRESHOLD="1GiB")
    assert (output, errors) == (
        "ok\n",
        f"{BEGIN}720 calls (below the threshold of 1024MiB); {HINT}\n",
    )
    assert run_whole(PROGRAMS / "nccl_coded", "4", CODEC="lossless", THRESHOLD="1GiB") == (
        "ok\n",
        "",
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"CODEC": "off"},
        {"CODEC": "auto", "DISABLE": "1"},
        {"CODEC": "auto", "LOG": "error"},
    ],
    ids=["bare preload", "off", "disabled", "log"],
)
def test_silent(settings: dict[str, str]) -> None:
    assert run_whole(CALLS, **settings) == ("ok\n", "")


def test_the_report_on_standard_error_is_enough() -> None:
    output, errors = run_whole(CALLS, CODEC="auto", REPORT="1")
    assert output == "ok\n" and "compressed nothing" not in errors
    assert "the link's rate is not known" in errors


def test_silent_for_one_rank() -> None:
    assert run_whole(PROGRAMS / "nccl_lives", "alone", CODEC="lossless") == ("ok\n", "")


def test_silent_where_calls_are_compressed() -> None:
    assert run_whole(PROGRAMS / "nccl_coded", "340", CODEC="lossless") == ("ok\n", "")


def ends(ranks: list[Popen[str]]) -> list[str]:
    said = [rank.communicate(timeout=60) for rank in ranks]
    assert [output for output, _ in said] == ["ok\n"] * len(ranks)
    return [errors for _, errors in said]


def test_one_process_of_a_job_says_it(tmp_path: Path) -> None:
    errors = ends([start(rank, 3, tmp_path, THINWIRE_CODEC="auto") for rank in range(3)])
    assert "rank 0 of 3 compressed nothing by NCCL: 1 call (the link's" in errors[0]
    assert errors[1:] == ["", ""]


def test_no_second_line_where_another_has_said_why(tmp_path: Path) -> None:
    ranks = [
        start(rank, 3, tmp_path, preload=rank != 1, THINWIRE_CODEC="lorenzo", STAY="1")
        for rank in range(3)
    ]
    errors = "".join(ends(ranks))
    assert errors.count("thinwire: ") == errors.count("1 of 3 ranks lacks it") == 1
