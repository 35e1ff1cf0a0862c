"""Data that stop getting smaller while calls are compressed; over a libnccl of host memory."""

from pathlib import Path

import pytest
from test_nccl_guard import communicators
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc


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
