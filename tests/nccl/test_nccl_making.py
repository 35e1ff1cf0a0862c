"""Programs that make and end communicators in groups."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import COLLECTIVES, PROGRAMS, expect_taken, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "nccl_making"
SETTINGS = {"CODEC": "lossless", "THRESHOLD": "1KiB"}


def communicators(path: Path) -> list[dict]:
    return json.loads((path / "report.nccl.rank0").read_text())["communicators"]


def sums(of: list[dict]) -> list[dict]:
    all_of = [each["operations"] for each in of]
    return [each["AllReduce"] for each in all_of if "AllReduce" in each]


def test_a_split_in_a_group_that_is_refused_has_no_number(tmp_path: Path) -> None:
    """The next one has its number, so that its ranks find each other."""
    expect_taken(PROGRAM, "parts")
    assert run(PROGRAM, "parts", REPORT=tmp_path / "report", **SETTINGS) == ("ok\n", "")
    parts = [each for each in communicators(tmp_path) if each["ranks"] > 1]
    found = {each["presence"] for each in parts}
    assert found == {f"all {ranks} ranks have it" for ranks in (2, 4)}
    assert all(of["compressed_calls"] > 0 for of in sums(parts) if of["calls"] > 90)


@pytest.mark.parametrize("blocks", ["1", "0"])
@pytest.mark.parametrize("mode", ["large", "small", "both", "none", "more", "simulated"])
def test_the_end_of_a_communicator_in_a_group_with_its_last_calls(
    mode: str, blocks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls come first, whether they are compressed or not."""
    if mode == "more" and blocks == "0":
        pytest.skip("NCCL says it later")
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocks)
    expect_taken(PROGRAM, "finalize", mode)
    words = (PROGRAM, "finalize", mode)
    assert run(*words, REPORT=tmp_path / "report", **SETTINGS) == ("ok\n", "")
    assert any(of["compressed_calls"] > 30 for of in sums(communicators(tmp_path)))


def test_a_thousand_communicators_one_after_the_other(tmp_path: Path) -> None:
    """What is kept of those that have ended is bounded; the report has all their calls."""
    count = 1000
    words = (PROGRAM, "many", str(count))
    settings = SETTINGS | {"REPORT": tmp_path / "report"}
    assert run(*words, patience=300, **settings) == ("ok\n", "")
    found = communicators(tmp_path)
    assert found[0]["presence"].endswith(" that have ended, together")
    earlier = int(found[0]["presence"].split()[0])
    assert len(found) < 300
    assert earlier + len(found) - 1 == 2 * count + 2
    calls = sum(80 if at % 8 < 2 else 2 for at in range(count))
    assert sum(of["calls"] for of in sums(found)) == 2 * calls
    assert sums(found[:1])[0]["compressed_calls"] > count


def test_communicators_that_end_in_groups_are_let_go(tmp_path: Path) -> None:
    words = (PROGRAM, "together", "300")
    assert run(*words, REPORT=tmp_path / "report", **SETTINGS) == ("ok\n", "")
    found = communicators(tmp_path)
    assert len(found) < 300, "of 600"
    assert sum(of["calls"] for of in sums(found)) == 600


# Collectives with a configuration of the call, and functions of NCCL that are not taken, over a
# libnccl of host memory.

CONFIGURED_PROGRAM = PROGRAMS / "nccl_configured"
ROUNDS = 300
CONFIGURED = "configured by the program for NCCL"


def figures(tmp_path: Path, *words: str) -> dict:
    """Natively right, and the report of it under the library."""
    expect_taken(CONFIGURED_PROGRAM, *words)
    assert run(CONFIGURED_PROGRAM, *words, CODEC="lorenzo", REPORT=tmp_path / "report") == (
        "ok\n",
        "",
    )
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
    assert run(CONFIGURED_PROGRAM, "none", "20", gpus=True, CODEC="lorenzo") == ("ok\n", "")


def test_functions_that_are_not_taken_are_named(tmp_path: Path) -> None:
    report = figures(tmp_path, "unseen", str(ROUNDS))
    assert report["functions_not_seen"] == ["ncclMoveByLink", "ncclMoveByName"]
    words = (CONFIGURED_PROGRAM, "unseen", "20")
    output, said = run(*words, CODEC="lorenzo", REPORT="1")
    assert output == "ok\n"
    assert said.endswith("does not take them: ncclMoveByLink, ncclMoveByName\n")
