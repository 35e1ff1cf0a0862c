"""Collectives with a configuration of the call, and functions of NCCL that are not taken, over a
libnccl of host memory."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import COLLECTIVES, PROGRAMS, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "nccl_configured"
ROUNDS = 300
CONFIGURED = "configured by the program for NCCL"


def figures(tmp_path: Path, *words: str) -> dict:
    """Natively right, and the report of it under the library."""
    assert run(PROGRAM, *words, preload=False) == ("ok\n", "")
    assert run(PROGRAM, *words, CODEC="lorenzo", REPORT=tmp_path / "report") == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    for each in report["communicators"]:
        assert set(each["operations"]) == set(COLLECTIVES)
        # Those of a group that NCCL refuses are left out.
        least = ROUNDS * 9 // 10 if words[0] == "wrong" else ROUNDS
        assert all(least <= of["calls"] <= ROUNDS for of in each["operations"].values())
    return report


def all_of(report: dict) -> list[dict]:
    return [of for each in report["communicators"] for of in each["operations"].values()]


@pytest.mark.parametrize("how", ["alone", "grouped"])
@pytest.mark.parametrize("mode", ["none", "tagged"])
def test_what_asks_for_nothing_is_compressed(mode: str, how: str, tmp_path: Path) -> None:
    for of in all_of(figures(tmp_path, mode, str(ROUNDS), how)):
        assert of["compressed_calls"] > ROUNDS / 3


@pytest.mark.parametrize("how", ["alone", "grouped"])
@pytest.mark.parametrize("mode", ["asks", "later"])
def test_what_asks_for_something_gets_it_of_nccl(mode: str, how: str, tmp_path: Path) -> None:
    for of in all_of(figures(tmp_path, mode, str(ROUNDS), how)):
        assert of["raw_by_reason"] == {CONFIGURED: ROUNDS}


@pytest.mark.parametrize("how", ["alone", "grouped"])
def test_they_may_take_turns(how: str, tmp_path: Path) -> None:
    for of in all_of(figures(tmp_path, "turns", str(ROUNDS), how)):
        assert of["raw_by_reason"][CONFIGURED] == ROUNDS / 2
        assert of["compressed_calls"] > ROUNDS / 10


@pytest.mark.parametrize("how", ["alone", "grouped"])
def test_what_is_none_is_refused_by_nccl(how: str, tmp_path: Path) -> None:
    report = figures(tmp_path, "wrong", str(ROUNDS), how)
    assert all(of["compressed_calls"] > 0 for of in all_of(report))


def test_an_earlier_nccl_takes_calls_without_a_configuration(tmp_path: Path) -> None:
    """Which mean the plain ones."""
    assert run(PROGRAM, "none", "20", gpus=True, CODEC="lorenzo") == ("ok\n", "")


def test_functions_that_are_not_taken_are_named(tmp_path: Path) -> None:
    report = figures(tmp_path, "unseen", str(ROUNDS))
    assert report["functions_not_seen"] == ["ncclMoveByLink", "ncclMoveByName"]
    words = (PROGRAM, "unseen", "20")
    output, said = run(*words, CODEC="lorenzo", REPORT="1")
    assert output == "ok\n"
    assert said.endswith("does not take them: ncclMoveByLink, ncclMoveByName\n")
