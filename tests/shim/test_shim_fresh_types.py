"""A new datatype for each message: what the library takes to know where its blocks lie."""

from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import Run, mpirun

pytestmark = pytest.mark.multiproc

BLOCKS, ROUNDS = str(1 << 19), "15"
CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
# Messages are looked at, and go raw.
RAW = {"THINWIRE_CODEC": "auto", "THINWIRE_SAME_NODE": "1", "THINWIRE_LINK": "8000gbit"}


def times(done: Run) -> dict[str, float]:
    lines = [line.split() for line in done.output.splitlines()]
    return {words[0]: float(words[1]) for words in lines if words[0] != "all"}


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_types_that_are_made_for_a_message(mpi: Mpi, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_fresh_types", "40000", "3"]
    report = tmp_path / "report.json"
    done = mpirun(2, program, mpi.production, CODEC, report, timeout=120, mpi=mpi).all_right(2)
    assert done.report is not None
    assert done.report["decoded_messages"] == 15  # of four kinds, one of which is sent twice


def least(library: Path | None) -> dict[str, float]:
    """Of two runs: a rank that waits for the other takes its processor, too."""
    program = [SYSTEM.programs / "shim_fresh_types", BLOCKS, ROUNDS]
    both = [times(mpirun(2, program, library, RAW, timeout=120).all_right(2)) for _ in range(2)]
    return {kind: min(took[kind] for took in both) for kind in both[0]}


@pytest.mark.alone
def test_they_take_little_longer() -> None:
    natively, here = least(None), least(SYSTEM.production)
    assert set(here) == {"vector", "subarray", "indexed", "indexed-twice"}
    for kind in ("vector", "subarray"):
        assert here[kind] < 1.5 * natively[kind] + 4, (natively, here)
    for kind in ("indexed", "indexed-twice"):
        assert here[kind] < 1.7 * natively[kind] + 10, (natively, here)
