"""NCCL programs that call the same bytes by different types, over a libnccl of host memory."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

CALLS = 1500
OTHER_TYPES = "sent as one type and received as another"
NOT_AGREED = "not agreed yet for calls of this kind"


def figures(mode: str, tmp_path: Path) -> list[dict[str, dict]]:
    """Of either rank by operation, natively right and under the library."""
    words = (PROGRAMS / "nccl_types", mode, str(CALLS))
    assert run(*words, preload=False) == ("ok\n", "")
    assert run(*words, CODEC="lorenzo", REPORT=tmp_path / "report") == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    return [each["operations"] for each in report["communicators"]]


@pytest.mark.parametrize("mode", ["bytes", "halves"])
def test_messages_of_other_types_stay_raw(mode: str, tmp_path: Path) -> None:
    for of in figures(mode, tmp_path):
        assert of["Send"]["compressed_calls"] == of["Recv"]["compressed_calls"] == 0
        assert of["Send"]["raw_by_reason"] == {NOT_AGREED: CALLS}
        # What the other end never takes is tried ever more rarely.
        assert of["Send"]["trials"] <= 12


@pytest.mark.parametrize("mode", ["every-other", "crossed", "at-first"])
def test_messages_that_only_some_have_alike_stay_raw(mode: str, tmp_path: Path) -> None:
    for of in figures(mode, tmp_path):
        for name in ("Send", "Recv"):
            assert of[name]["compressed_calls"] == 0
            assert of[name]["raw_by_reason"][OTHER_TYPES] > 100


@pytest.mark.parametrize(
    ("mode", "names"), [("mixed", ("Send", "Recv")), ("gathers", ("AllGather",))]
)
def test_types_that_change_alike_are_compressed(
    mode: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    """And gathers, of which one rank has made some as bytes: numbers count them, too."""
    for of in figures(mode, tmp_path):
        for name in names:
            assert of[name]["compressed_calls"] > CALLS / 5
