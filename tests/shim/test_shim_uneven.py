"""Lists of unequal counts: all values are right while calls are timed, when they are compressed,
and in parts."""

from pathlib import Path

import pytest
from mpis import SYSTEM
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

CODEC = {
    "THINWIRE_CODEC": "mpc",
    "THINWIRE_SAME_NODE": "1",
    "THINWIRE_THRESHOLD": "4096",
    "THINWIRE_COLLECTIVES": "on,gatherv,scatterv,alltoallv",
}
WAYS = {
    "timed": {"THINWIRE_LINK": "1mbit"},
    "forced": {"THINWIRE_LINK": "100gbit", "THINWIRE_FORCE": "1"},
    "parts": {"THINWIRE_LINK": "1gbit", "THINWIRE_FORCE": "1"},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_value_is_right(way: str, tmp_path: Path) -> None:
    settings = {**CODEC, **WAYS[way]}
    report = tmp_path / "report"
    words = [SYSTEM.programs / "shim_coll_uneven"]
    done = mpirun(3, words, SYSTEM.production, settings, report, timeout=120).all_right(3)
    assert done.collectives["compressed"] > 0
