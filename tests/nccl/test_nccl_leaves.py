"""Ranks of an NCCL program that end before the others, and communicators that do."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM

pytestmark = pytest.mark.multiproc

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
