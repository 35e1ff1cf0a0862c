"""Calls captured in graphs, over a libnccl of host memory."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

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


def test_the_guard_decides_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where compression was found to lose, what is captured is raw as well."""
    monkeypatch.setenv("FAKE_NCCL_FUNCTION_US", "3000")
    for operations in graphs("zfp:rate=28", tmp_path, "2", "exact", FORCE="0"):
        for name in ("AllGather", "AllReduce", "ReduceScatter"):
            assert operations[name]["raw_by_reason"]["faster raw, as timed"] >= GRAPHS
            assert CAPTURED not in operations[name]["raw_by_reason"]
