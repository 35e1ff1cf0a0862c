"""MPI programs whose fields have missing values: under fill= they are compressed, and right."""

from pathlib import Path

import pytest
from shim_runs import PRODUCTION, PROGRAMS, Run, mpirun

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_fills"
MESSAGES = 4
SUMS = "operation not done compressed"
DECLINED = "data declined by the codec"
CODECS = ["szp:rel=1e-3", "szp:abs=0.04", "zfp:rate=16"]


def run(kind: str, codec: str, report: Path) -> Run:
    settings = {"THINWIRE_CODEC": codec, "THINWIRE_SAME_NODE": "1"}
    return mpirun(2, [PROGRAM, kind], PRODUCTION, settings, report)


@pytest.mark.parametrize("fill", ["value", "auto"])
@pytest.mark.parametrize("kind", ["1e36", "nan"])
@pytest.mark.parametrize("codec", CODECS)
def test_fields_with_missing_values_are_compressed(
    codec: str, kind: str, fill: str, tmp_path: Path
) -> None:
    done = run(kind, f"{codec},fill={kind if fill == 'value' else fill}", tmp_path / "report")
    assert (done.code, done.output, done.errors) == (0, "", "")
    assert done.report is not None
    assert done.report["compressed_messages"] == MESSAGES
    assert DECLINED not in done.report["raw_by_reason"]
    collectives = done.report["collectives"]
    assert collectives["compressed"] == 4  # Bcast and Allgather, on either rank
    assert collectives["raw_packets"] == 0
    assert collectives["native_by_reason"][SUMS] == 2


@pytest.mark.parametrize(("codec", "kind"), [("szp:rel=1e-3", "1e36"), ("zfp:rate=16", "nan")])
def test_without_the_option_they_are_declined(codec: str, kind: str, tmp_path: Path) -> None:
    """That is, the other test can fail."""
    done = run(kind, codec, tmp_path / "report")
    assert done.report is not None
    assert done.report["compressed_messages"] == 0
