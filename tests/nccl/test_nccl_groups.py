"""Ranks that group their calls in ways of their own, as NCCL allows it: results are right."""

import json
from pathlib import Path

import pytest
from test_nccl_guard import communicators
from test_nccl_shim import PROGRAMS, expect_taken, run

pytestmark = pytest.mark.multiproc

CASES = ["shuffled", "one-sided", "two", "exchanged", "mixed", "refused", "three", "beside"]


def expect_right(tmp_path: Path, *words: str, name: str = "nccl_groups") -> None:
    """Natively too, which shows that the program is one that NCCL takes."""
    program = PROGRAMS / name
    expect_taken(program, *words)
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


# Calls captured in graphs, over a libnccl of host memory.


NAMES = ("AllGather", "AllReduce", "ReduceScatter", "Send", "Recv")
CAPTURED = "captured into a graph"
GRAPHS = 3


def graphs(codec: str, folder: Path, *words: str, **more: str | Path) -> list[dict]:
    """Of the ranks' operations."""
    settings = {"CODEC": codec, "THRESHOLD": "1KiB", "REPORT": folder / "report"} | more
    assert run(PROGRAMS / "nccl_graphs", *words, **settings) == ("ok\n", "")
    found = json.loads((folder / "report.nccl.rank0").read_text())["communicators"]
    return [each["operations"] for each in sorted(found, key=lambda each: each["rank"])]


@pytest.mark.parametrize("codec", ["blockq", "zfp:rate=16"])
# 64 calls after the first odd turn ranks may agree to leave what is not in a graph raw.
@pytest.mark.parametrize("words", [("20",), ("15", "odd"), ("10", "odd", "after")])
def test_codecs_of_a_fixed_size_are_captured(
    codec: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    for rank, operations in enumerate(graphs(codec, tmp_path, *words)):
        for name in NAMES:
            figures = operations[name]
            assert CAPTURED not in figures["raw_by_reason"]
            raw = sum(figures["raw_by_reason"].values())
            # Captured calls are counted a single time.
            ends = 0 if "after" in words else 1
            assert figures["calls"] == 340 + int(words[0]) + GRAPHS + ends
            assert figures["compressed_calls"] == figures["calls"] - raw
            # One turn of five in each graph, and without one until the ranks have agreed on raw;
            # rank 0 has the values.
            turns = int(words[0]) // 5 if "odd" in words else 0
            times = range(turns * GRAPHS + (turns > 0), turns * (1 + GRAPHS) + 1)
            none = range(1)
            assert figures["spilled_blocks"] in (times if rank == 0 and name != "Recv" else none)
            arrived = figures["spilled_blocks_received"]
            assert arrived in (times if rank == 1 and name != "Send" else none), (name, rank)


def test_others_are_raw_and_counted(tmp_path: Path) -> None:
    """A capacity that cannot follow the data would not do."""
    for operations in graphs("lossless", tmp_path, "5", "exact"):
        for name in NAMES:
            assert operations[name]["raw_by_reason"][CAPTURED] == GRAPHS
            assert operations[name]["compressed_calls"] > 200


@pytest.mark.parametrize("codec", ["lossless", "szp:abs=1e-3", "lorenzo"])
def test_all_are_captured_where_it_is_asked_for(codec: str, tmp_path: Path) -> None:
    """In slots with room for a little more than at the capture."""
    exact = ("exact",) if codec != "szp:abs=1e-3" else ()
    for operations in graphs(codec, tmp_path, "10", *exact, GRAPHS="1"):
        for name in NAMES:
            figures = operations[name]
            assert CAPTURED not in figures["raw_by_reason"]
            raw = sum(figures["raw_by_reason"].values())
            assert figures["calls"] - raw == figures["compressed_calls"] > 100
            assert figures["spilled_at_replays"] == figures["spilled_blocks"] == 0


def test_what_does_not_fit_at_a_replay_is_spilled_and_said(tmp_path: Path) -> None:
    turns = 60
    words = (str(turns), "rough")
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(PROGRAMS / "nccl_graphs", *words, GRAPHS="1", **settings)
    assert output == "ok\n"
    assert errors.count("capture the graph again") == 1
    found = json.loads((tmp_path / "report.nccl.rank0").read_text())["communicators"]
    for each in found:
        for name in ("AllGather", "AllReduce", "ReduceScatter", "Send"):
            spilled = each["operations"][name]["spilled_at_replays"]
            assert spilled == turns // 5 * GRAPHS, (name, spilled)


def test_the_guard_decides_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where compression was found to lose, what is captured is raw as well."""
    monkeypatch.setenv("FAKE_NCCL_FUNCTION_US", "3000")
    for operations in graphs("zfp:rate=28", tmp_path, "2", "exact", FORCE="0"):
        for name in ("AllGather", "AllReduce", "ReduceScatter"):
            assert operations[name]["raw_by_reason"]["faster raw, as timed"] >= GRAPHS
            assert CAPTURED not in operations[name]["raw_by_reason"]


# Data that stop getting smaller while calls are compressed; over a libnccl of host memory.


def gathers(path: Path, calls: int, period: int, ahead: int, ranks: int) -> list[dict]:
    """Of each rank; every block of a call is spilled, or none is."""
    words = (PROGRAMS / "nccl_spills", str(calls), str(period), str(ahead))
    assert run(*words, ranks=ranks, CODEC="lossless", REPORT=path / "report") == ("ok\n", "")
    found = communicators(path / "report.nccl.rank0")
    return [each["operations"]["AllGather"] for each in found]


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("ahead", [1, 40])
def test_few_calls_are_spilled_behind_a_change(ahead: int, ranks: int, tmp_path: Path) -> None:
    """Those that hosts had enqueued before the first one was seen to spill, and two more."""
    for each in gathers(tmp_path, 480, 240, ahead, ranks):
        assert each["frames"] > 60, "it was compressed before"
        assert 0 < each["spilled_blocks"] <= ahead + 2
        assert each["raw_by_reason"]["calls of this kind did not get smaller"] > 100


def test_data_that_come_and_go_are_tried_ever_more_rarely(tmp_path: Path) -> None:
    for each in gathers(tmp_path, 6000, 150, 1, 2):
        # They come back 20 times: after 256 calls, 512, 1024, 2048 and 4096 a class is tried.
        assert 0 < each["spilled_blocks"] <= 12
