"""8-bit floats over a libnccl of host memory: what is moved is compressed, sums stay raw."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import BYTES, PROGRAMS, run

pytestmark = pytest.mark.multiproc

CALLS = 300
MOVED = ("AllGather", "Broadcast", "Send", "Recv")


@pytest.mark.parametrize("codec", ["expack", "lossless"])
def test_moves_are_compressed_and_sums_are_not(codec: str, tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_float8", str(CALLS))
    assert run(*words, preload=False) == ("ok\n", "")
    assert run(*words, CODEC=codec, REPORT=tmp_path / "report") == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    for each in report["communicators"]:
        found = each["operations"]
        for name in MOVED:
            assert found[name]["calls"] == 2 * CALLS
            assert found[name]["compressed_calls"] > CALLS / 5, name
        for name in ("AllGather", "Send"):
            assert found[name]["wire_bytes"] < 0.95 * found[name]["bytes"]
        sums = found["AllReduce"]
        assert sums["compressed_calls"] == sums["trials"] == 0
        assert sums["raw_by_reason"] == {BYTES: 2 * CALLS}


def test_codecs_of_other_types_leave_them_raw(tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_float8", "60")
    assert run(*words, CODEC="lorenzo", REPORT=tmp_path / "report") == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    for each in report["communicators"]:
        for name in (*MOVED, "AllReduce"):
            assert each["operations"][name]["raw_by_reason"] == {BYTES: 120}
