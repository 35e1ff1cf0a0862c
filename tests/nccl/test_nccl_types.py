"""NCCL programs that call the same bytes by different types, over a libnccl of host memory."""

import json
from pathlib import Path

import pytest
from test_nccl_shim import BYTES, PROGRAMS, expect_taken, run

pytestmark = pytest.mark.multiproc

CALLS = 1500
NOT_AGREED = "not agreed yet for calls of this kind"


def figures(
    mode: str, tmp_path: Path, codec: str = "lorenzo", error: str = "0"
) -> list[dict[str, dict]]:
    """Of either rank by operation, natively right and under the library."""
    words = (PROGRAMS / "nccl_types", mode, str(CALLS), error)
    expect_taken(*words)
    # Bytes of another type look like fill values.
    settings = {"CODEC": codec, "REPORT": tmp_path / "report", "FILL_VALUES": "code"}
    assert run(*words, **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    return [each["operations"] for each in report["communicators"]]


def test_what_its_receiver_calls_integers_from_the_first_on_stays_raw(tmp_path: Path) -> None:
    for of in figures("bytes", tmp_path):
        assert of["Send"]["compressed_calls"] == of["Recv"]["compressed_calls"] == 0
        assert of["Send"]["raw_by_reason"] == {NOT_AGREED: CALLS}
        # Messages that the other end never takes are tried ever more rarely.
        assert of["Send"]["trials"] <= 12


LATE = ["bytes", "halves", "of-bytes", "of-halves", "others", "integers", "turns"]
MODES = ["halves", "every-other", "at-first", *(f"late-{mode}" for mode in LATE)]


@pytest.mark.parametrize("mode", MODES)
def test_whatever_ends_call_them_messages_are_compressed_without_a_loss(
    mode: str, tmp_path: Path
) -> None:
    """Their types are no part of what both ends agree on."""
    for of in figures(mode, tmp_path):
        assert of["Send"]["compressed_calls"] > CALLS / 5
        assert of["Recv"]["compressed_calls"] > CALLS / 5


@pytest.mark.parametrize("mode", ["crossed", "mixed"])
def test_types_that_take_turns_from_the_first_on_arrive_right(mode: str, tmp_path: Path) -> None:
    """What they need as one type does for none of the others: they are raw soon."""
    for of in figures(mode, tmp_path):
        assert of["Send"]["spilled_blocks"] < 100


@pytest.mark.parametrize("codec", ["blockq:bits=8", "szp:rel=1e-3"])
@pytest.mark.parametrize("mode", [*(f"late-{mode}" for mode in LATE), "mixed"])
def test_a_lossy_codec_changes_what_is_sent_as_its_floats_alone(
    mode: str, codec: str, tmp_path: Path
) -> None:
    for of in figures(mode, tmp_path, codec, error="0.01"):
        if mode == "mixed":
            # Types that take turns from the first on are not even tried.
            assert of["Send"]["compressed_calls"] == of["Recv"]["compressed_calls"] == 0
        else:
            assert of["Send"]["compressed_calls"] > 50
        # Some of the messages that came in between are spilled, then the kind is raw.
        assert of["Send"].get("spilled_blocks", 0) < CALLS / 3


def test_gathers_of_which_a_rank_has_made_some_as_bytes_are_compressed(tmp_path: Path) -> None:
    """As numbers count them, too."""
    for of in figures("gathers", tmp_path):
        assert of["AllGather"]["compressed_calls"] > CALLS / 5


# 8-bit floats over a libnccl of host memory: what is moved is compressed, sums stay raw.

FLOAT8_CALLS = 300
MOVED = ("AllGather", "Broadcast", "Send", "Recv")


@pytest.mark.parametrize("codec", ["expack", "lossless"])
def test_moves_are_compressed_and_sums_are_not(codec: str, tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_float8", str(FLOAT8_CALLS))
    expect_taken(*words)
    assert run(*words, CODEC=codec, REPORT=tmp_path / "report") == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    for each in report["communicators"]:
        found = each["operations"]
        for name in MOVED:
            assert found[name]["calls"] == 2 * FLOAT8_CALLS
            assert found[name]["compressed_calls"] > FLOAT8_CALLS / 5, name
        for name in ("AllGather", "Send"):
            assert found[name]["wire_bytes"] < 0.95 * found[name]["bytes"]
        sums = found["AllReduce"]
        assert sums["compressed_calls"] == sums["trials"] == 0
        assert sums["raw_by_reason"] == {BYTES: 2 * FLOAT8_CALLS}


def test_codecs_of_other_types_leave_them_raw(tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_float8", "60")
    assert run(*words, CODEC="lorenzo", REPORT=tmp_path / "report") == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    for each in report["communicators"]:
        for name in (*MOVED, "AllReduce"):
            assert each["operations"][name]["raw_by_reason"] == {BYTES: 120}
