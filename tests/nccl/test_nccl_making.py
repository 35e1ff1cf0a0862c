"""Programs that make and end communicators in groups."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import PROGRAMS, run

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
    assert run(PROGRAM, "parts", preload=False) == ("ok\n", "")
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
    assert run(PROGRAM, "finalize", mode, preload=False) == ("ok\n", "")
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
