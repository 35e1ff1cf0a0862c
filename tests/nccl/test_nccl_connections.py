"""Compressed sums make NCCL connect ranks: how many is bounded, and told."""

from pathlib import Path

import pytest
from test_nccl_guard import communicators
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

MANY = "NCCL would have to connect with too many ranks"


def coded(path: Path, **settings: str) -> list[dict]:
    """What a program of four ranks reports, whose messages go round in a ring."""
    named = {"CODEC": "lossless:reductions=coded", "REPORT": str(path / "report")} | settings
    assert run(PROGRAMS / "nccl_coded", "150", **named) == ("ok\n", "")
    return communicators(path / "report.nccl.rank0")


def test_sums_that_would_connect_too_many_ranks_are_raw(tmp_path: Path) -> None:
    for rank in coded(tmp_path, CONNECTIONS="2"):
        assert rank["connections"] == {"ranks": 0, "estimated_bytes": 0}
        for name in ("AllReduce", "ReduceScatter"):
            assert rank["operations"][name]["compressed_calls"] == 0
            assert rank["operations"][name]["raw_by_reason"][MANY] > 10
        assert rank["operations"]["AllGather"]["compressed_calls"] > 0


def test_what_sums_connect_is_told(tmp_path: Path) -> None:
    for rank in coded(tmp_path):
        # The three others share this rank's node.
        assert rank["connections"] == {"ranks": 3, "estimated_bytes": 3 * (480 << 20)}
        assert rank["operations"]["AllReduce"]["compressed_calls"] > 0


def test_the_report_in_words_has_it(tmp_path: Path) -> None:
    named = {"CODEC": "lossless:reductions=coded", "REPORT": "1"}
    _, errors = run(PROGRAMS / "nccl_coded", "150", **named)
    assert "with 3 ranks more, for which NCCL takes some 1440 MiB of GPU memory" in errors
