"""Ranks that come late and ranks that go early; over a libnccl of host memory."""

import json
import os
import time
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM

pytestmark = pytest.mark.multiproc


def start(ranks: int, mode: str, seconds: int, path: Path, **own: str) -> list[Popen[str]]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own |= {
        "LD_PRELOAD": str(SHIM),
        "RANKS": str(ranks),
        "RANKS_FILE": str(path / "id"),
        "THINWIRE_CODEC": "lossless",
        "THINWIRE_FORCE": "1",
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_THRESHOLD": "1KiB",
        "THINWIRE_REPORT": str(path / "report"),
    }
    words = [str(PROGRAMS / "nccl_times"), mode, str(seconds)]
    return [
        Popen(words, env=kept | own | {"RANK": str(rank)}, stdout=PIPE, stderr=PIPE, text=True)
        for rank in range(ranks)
    ]


def communicator(path: Path, rank: int) -> dict:
    (found,) = json.loads((path / f"report.nccl.rank{rank}").read_text())["communicators"]
    return found


def long(*case: object) -> object:
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("blocking", "seconds"), [("0", 2), long("0", 15), long("1", 15), long("0", 45)]
)
def test_a_rank_that_comes_late_is_waited_for(blocking: str, seconds: int, tmp_path: Path) -> None:
    """A communicator that does not block registers before NCCL has all ranks."""
    started = start(2, "late", seconds, tmp_path, NCCL_COMM_BLOCKING=blocking)
    said = [each.communicate(timeout=120 + seconds) for each in started]
    assert [output for output, _ in said] == ["ok\n"] * 2, said
    # Nobody but a registrar that waits for ten seconds has anything to say.
    lines = "".join(errors for _, errors in said).splitlines()
    waits = [line for line in lines if "has not come yet" in line]
    assert lines == waits and len(waits) <= 1
    for rank in range(2):
        found = communicator(tmp_path, rank)
        assert found["presence"] == "all 2 ranks have it"
        assert found["operations"]["AllGather"]["compressed_calls"] > 100


@pytest.mark.parametrize(
    ("mode", "seconds"), [("leaves", 3), long("leaves", 20), long("stays", 20)]
)
def test_a_rank_that_goes_early_takes_nothing_with_it(
    mode: str, seconds: int, tmp_path: Path
) -> None:
    """Messages between the others go on compressed for as long as they like, and it does not wait
    for them."""
    started = start(4, mode, seconds, tmp_path)
    assert started[0].communicate(timeout=120) == ("ok\n", "")
    gone = time.monotonic()
    said = [each.communicate(timeout=120 + seconds) for each in started[1:]]
    assert said == [("ok\n", "")] * 3
    assert time.monotonic() - gone > seconds - 2.5
    for rank in range(1, 4):
        sent = communicator(tmp_path, rank)["operations"]["Send"]
        assert sent["compressed_calls"] > 200


# Ranks of an NCCL program that end before the others, and communicators that do.


RANKS = 4
TOGETHER, ALONE = 100, 60  # steps of the program


def run_ranks(tmp_path: Path, *words: str, seconds: int = 60) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(tmp_path / "id"), "THINWIRE_FORCE": "1"}
    own |= {"THINWIRE_CODEC": "lossless", "THINWIRE_SAME_NODE": "1"}
    own |= {"THINWIRE_THRESHOLD": "1KiB", "THINWIRE_REPORT": str(tmp_path / "report")}
    ranks = [
        Popen(words, env=kept | own | {"RANK": str(rank)}, stdout=PIPE, stderr=PIPE, text=True)
        for rank in range(RANKS)
    ]
    ends = [rank.communicate(timeout=seconds) for rank in ranks]
    assert [output for output, _ in ends] == ["ok\n"] * RANKS, ends


@pytest.mark.parametrize("how", ["destroy", "finalize", "nothing"])
def test_messages_go_on_after_a_rank_has_ended(how: str, tmp_path: Path) -> None:
    """Its process ends at once, as after a signal: no function of the library runs."""
    run_ranks(tmp_path, str(PROGRAMS / "nccl_leaves"), how)
    for rank in range(RANKS - 1):
        report = json.loads((tmp_path / f"report.nccl.rank{rank}").read_text())
        [communicator] = report["communicators"]
        # Who ends its communicator tells the others.
        assert (", until rank 3 has ended" in communicator["presence"]) == (how == "nothing")
        of = communicator["operations"]["Send"]
        assert of["calls"] == TOGETHER * (RANKS - 1) + ALONE * (RANKS - 2)
        assert of["compressed_calls"] > ALONE * (RANKS - 2)
