"""Integers in the bits of floats, under lossy codecs: doubles arrive exact, fp32 is compressed."""

from pathlib import Path

import pytest
from shim_runs import PRODUCTION, PROGRAMS, Run, mpirun

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_integer_bits"
WHY = "holds integers in the bits of doubles"
LOSSY = ["szp:rel=1e-6", "szp:abs=1e-3", "zfp:rate=16"]


def run_kind(kind: str, codec: str, ranks: int, report: Path, **settings: str) -> Run:
    chosen = {"THINWIRE_CODEC": codec, "THINWIRE_SAME_NODE": "1", **settings}
    return mpirun(ranks, [PROGRAM, kind], PRODUCTION, chosen, report)


@pytest.mark.parametrize("kind", ["doubles", "mixed"])
@pytest.mark.parametrize("codec", LOSSY)
def test_doubles_arrive_exact_and_the_report_says_why(
    kind: str, codec: str, tmp_path: Path
) -> None:
    done = run_kind(kind, codec, 3, tmp_path / "report")
    assert (done.code, done.output, done.errors) == (0, "", "")
    assert done.report is not None
    assert done.report["raw_by_reason"][WHY] >= 1
    assert done.report["compressed_messages"] == 0
    assert done.report["collectives"]["compressed"] > 0
    why_raw = done.report["collectives"]["raw_packets_by_reason"]
    assert why_raw[WHY] > 0
    assert done.report["collectives"]["raw_packets"] == sum(why_raw.values())
    # Other ranks pass on raw a packet for which one rank had a reason.
    assert set(why_raw) <= {WHY, "came raw from another rank", "not tried: data declined lately"}
    assert done.report["integers"]["declined"] > done.report["raw_by_reason"][WHY]


@pytest.mark.parametrize("codec", LOSSY)
def test_the_setting_has_them_coded(codec: str, tmp_path: Path) -> None:
    done = run_kind("doubles", codec, 2, tmp_path / "report", THINWIRE_INTEGERS="code")
    assert done.report is not None
    assert WHY not in done.report["raw_by_reason"]
    assert done.report["integers"]["declined"] == 0
    if codec != "szp:rel=1e-6":  # whose bound of such a range is stored exactly
        assert done.code != 0


@pytest.mark.parametrize("codec", ["szp:abs=1e-3", "zfp:rate=16"])
def test_floats_that_fade_out_stay_compressed_and_are_counted(codec: str, tmp_path: Path) -> None:
    done = run_kind("floats", codec, 2, tmp_path / "report")
    assert (done.code, done.output, done.errors) == (0, "", "")
    assert done.report is not None
    assert done.report["compressed_messages"] == 4
    assert done.report["integers"] == {"declined": 0, "coded": 4}
