"""Jobs of many processes: right results, and what a rank has does not grow with their number."""

import json
from typing import Any

import pytest
from mpis import ALL, Mpi
from shim_runs import mpirun

pytestmark = [pytest.mark.multiproc, pytest.mark.alone]

COMPRESS = {
    "THINWIRE_CODEC": "lossless",
    "THINWIRE_SAME_NODE": "1",
    "THINWIRE_THRESHOLD": "1KiB",
}
# KiB of its own that the library adds to a rank, with what it knows of 252 others.
ALLOWED = 2048
# One of each launcher: PMIx, PMI-1.
MPIS = [mpi for mpi in ALL if mpi.name in ("openmpi", "mpich")]


def figures(mpi: Mpi, ranks: int, *, library: bool) -> dict[str, Any]:
    """The most of all ranks; the program checks every value."""
    given = (mpi.production, COMPRESS) if library else (None, {})
    done = mpirun(ranks, [mpi.programs / "shim_many_ranks"], *given, timeout=500, mpi=mpi)
    if not library and done.code != 0:
        pytest.skip(f"{ranks} processes of {mpi.name} do not start here by themselves")
    assert done.code == 0, done.output + done.errors
    (line,) = [each for each in done.output.splitlines() if each.startswith("{")]
    found: dict[str, Any] = json.loads(line)
    assert (found["ranks"], found["wrong"]) == (ranks, 0), done.errors
    return found


@pytest.mark.parametrize("ranks", [16, pytest.param(256, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_rank_takes_little_more_than_natively(mpi: Mpi, ranks: int) -> None:
    native = figures(mpi, ranks, library=False)
    ours = figures(mpi, ranks, library=True)
    assert ours["mean_private_kib"] - native["mean_private_kib"] < ALLOWED
    assert ours["descriptors"] <= native["descriptors"] + 1
    assert ours["threads"] <= native["threads"] + 1
