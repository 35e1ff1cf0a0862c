"""Ranks that group their calls in ways of their own, as NCCL allows it: results are right."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

CASES = ["shuffled", "one-sided", "two", "exchanged", "mixed", "refused", "three", "beside"]


def expect_right(tmp_path: Path, *words: str, name: str = "nccl_groups") -> None:
    """Natively too, which shows that the program is one that NCCL takes."""
    program = PROGRAMS / name
    assert run(program, *words, preload=False) == ("ok\n", "")
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(program, *words, **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    of_all = [each["operations"] for each in report["communicators"]]
    assert sum(each["compressed_calls"] for of in of_all for each in of.values()) > 20


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("case", CASES)
def test_groups_that_differ(case: str, seed: int, tmp_path: Path) -> None:
    expect_right(tmp_path, case, "400", str(seed))


@pytest.mark.parametrize("seed", range(1, 7))
def test_random_groups(seed: int, tmp_path: Path) -> None:
    expect_right(tmp_path, "random", "300", str(seed))


def test_two_that_do_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_COMM_BLOCKING", "0")
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB"}
    assert run(PROGRAMS / "nccl_groups", "two", "300", **settings) == ("ok\n", "")


@pytest.mark.parametrize("blocks", ["1", "0"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_group_on_several_streams(
    seed: int, blocks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocks)
    monkeypatch.setenv("FAKE_NCCL_FUNCTION_US", "20")
    expect_right(tmp_path, "200", str(seed), name="nccl_joined")
