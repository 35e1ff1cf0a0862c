"""Calls for which the program has asked NCCL for something of its own go to it as they are: in
windows of symmetric memory, and under the zero-CTA policy. Over a libnccl of host memory."""

from pathlib import Path

import pytest
from test_nccl_guard import communicators
from test_nccl_shim import PROGRAMS, expect_taken, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "nccl_windows"
WINDOW = "in a registered window of symmetric memory"
ZERO = "zero-CTA policy of the communicator"
TIMED = "being timed, raw and compressed"
CALLS = 150


def figures(path: Path, mode: str, calls: int = CALLS, **settings: str) -> list[dict]:
    """The operations of each rank, of the communicator on which it made its calls."""
    named = {"CODEC": "lossless:reductions=coded", "FORCE": "0", "THRESHOLD": "1KiB"} | settings
    words = (PROGRAM, mode, str(calls))
    expect_taken(*words)
    assert run(*words, REPORT=path / "report", **named) == ("ok\n", "")
    found = communicators(path / "report.nccl.rank0")
    made = [each["operations"] for each in found if each["operations"]]
    assert len(made) == 4
    return made


def reasons(of: dict, name: str) -> dict[str, int]:
    return of[name]["raw_by_reason"]


def goes_to_nccl(of: dict, name: str, why: str) -> bool:
    """But for calls before the ranks know each other."""
    raw = reasons(of, name)
    is_tried = of[name]["compressed_calls"] > 0 or TIMED in raw
    return raw.get(why, 0) > CALLS / 2 and not is_tried


def is_tried(of: dict, name: str) -> bool:
    return of[name]["compressed_calls"] > 0 and TIMED in reasons(of, name)


@pytest.mark.parametrize("mode", ["all", "group"])
@pytest.mark.parametrize("blocking", ["1", "0"])
def test_calls_in_windows_are_nccls_own(
    mode: str, blocking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others on the same communicator are compressed where that pays."""
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocking)
    for of in figures(tmp_path, mode):
        assert goes_to_nccl(of, "AllGather", WINDOW)
        assert goes_to_nccl(of, "Recv", WINDOW) and goes_to_nccl(of, "Send", WINDOW)
        assert is_tried(of, "AllReduce") and WINDOW not in reasons(of, "AllReduce")


def test_a_window_of_one_rank_is_enough(tmp_path: Path) -> None:
    """All ranks make the call alike, and none waits."""
    found = figures(tmp_path, "one")
    assert all(goes_to_nccl(of, "AllGather", WINDOW) for of in found)
    assert all(is_tried(of, "AllReduce") and is_tried(of, "Send") for of in found)


@pytest.mark.parametrize("mode", ["plain", "local", "other"])
def test_other_registrations_change_nothing(mode: str, tmp_path: Path) -> None:
    for of in figures(tmp_path, mode):
        for name in ("AllGather", "AllReduce", "Send", "Recv"):
            assert is_tried(of, name) and WINDOW not in reasons(of, name)


def test_nor_does_a_window_that_nccl_does_not_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_NCCL_NO_WINDOWS", "1")
    assert all(is_tried(of, "AllGather") for of in figures(tmp_path, "all"))


def test_what_is_windowed_no_more_is_tried(tmp_path: Path) -> None:
    """Though the memory is the same."""
    for of in figures(tmp_path, "reused", 600):
        assert is_tried(of, "AllGather") and is_tried(of, "Send") and is_tried(of, "Recv")
        assert 256 <= reasons(of, "AllGather")[WINDOW] < 500


def test_windows_may_come_while_calls_are_under_way(tmp_path: Path) -> None:
    for of in figures(tmp_path, "late", 360):
        assert is_tried(of, "AllGather") and is_tried(of, "Send")
        assert reasons(of, "AllGather")[WINDOW] > 100
        assert WINDOW not in reasons(of, "AllReduce")


@pytest.mark.parametrize("mode", ["zero", "zero1", "zeropart"])
def test_with_the_zero_cta_policy_all_calls_are_nccls_own(mode: str, tmp_path: Path) -> None:
    for rank, of in enumerate(figures(tmp_path, mode)):
        assert goes_to_nccl(of, "AllGather", ZERO) and goes_to_nccl(of, "AllReduce", ZERO)
        # A message concerns its two ends alone.
        concerned = mode != "zero1" or rank in (0, 1)
        assert goes_to_nccl(of, "Send", ZERO) if concerned else is_tried(of, "Send")


@pytest.mark.parametrize(
    ("text", "is_zero"),
    [("2", True), ("efficiency|Zero", True), ("1", False), ("3", False), ("nothing", False)],
)
def test_the_environment_may_say_it(
    text: str, is_zero: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_CTA_POLICY", text)
    for of in figures(tmp_path, "plain"):
        assert goes_to_nccl(of, "AllReduce", ZERO) if is_zero else is_tried(of, "AllReduce")


def test_the_environment_stands_above_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_CTA_POLICY", "0")
    assert all(is_tried(of, "AllReduce") for of in figures(tmp_path, "zero"))


@pytest.mark.parametrize("mode", ["all", "zero"])
def test_force_compresses_all_the_same(mode: str, tmp_path: Path) -> None:
    for of in figures(tmp_path, mode, FORCE="1"):
        assert of["AllGather"]["compressed_calls"] > 10
        assert {WINDOW, ZERO}.isdisjoint(reasons(of, "AllGather"))
