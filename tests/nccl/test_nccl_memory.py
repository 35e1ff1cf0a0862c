"""NCCL programs during which memory runs out on one rank."""

import json
from pathlib import Path

import pytest
from test_nccl_coded import figures
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

WARNING = "no memory on its GPU"
SHORT = "out of memory"


@pytest.mark.parametrize("codec", ["lorenzo", "lossless"])
@pytest.mark.parametrize("way", ["groups", "little", "streams", "larger"])
def test_calls_succeed_when_memory_runs_out_on_a_rank(way: str, codec: str, tmp_path: Path) -> None:
    settings = {"CODEC": codec, "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(PROGRAMS / "nccl_memory", way, **settings)
    assert output == "ok\n"
    ranks = figures(tmp_path / "report.nccl.rank0")["AllGather"]
    assert len({each["compressed_calls"] for each in ranks}) == 1
    for each in ranks:
        short = each["raw_by_reason"].get(SHORT, 0)
        # Memory reserved for whole groups suffices; else all ranks go raw, and say why.
        assert (short > 0) == (way != "groups")
        assert each["compressed_calls"] > 50 or way == "little"
    # One process, in which one call works in the host's memory if the device has none.
    assert errors.count(WARNING) == (1 if way in ("streams", "larger") else 0)


def test_a_rank_that_has_memory_again_takes_part(tmp_path: Path) -> None:
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_memory", "returns", **settings) == ("ok\n", "")
    for each in figures(tmp_path / "report.nccl.rank0")["AllGather"]:
        assert each["raw_by_reason"][SHORT] >= 1024, "it looks again after so many"
        assert each["compressed_calls"] > 100


def test_what_a_failed_communicator_held_serves_the_next(tmp_path: Path) -> None:
    """As programs restart in their processes, after a call that NCCL has refused on one rank."""
    settings = {"CODEC": "lossless", "REPORT": tmp_path / "report"}
    output, errors = run(PROGRAMS / "nccl_restarts", **settings)
    assert output == "ok\n"
    assert errors == ""
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    # Beside the two of the program's that have no calls.
    used = [each["operations"]["Send"] for each in report["communicators"] if each["operations"]]
    assert len(used) == 12
    assert all(each["compressed_calls"] > 20 for each in used)
