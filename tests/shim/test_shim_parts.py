"""Messages of collectives that travel in parts, as Open MPI's do between nodes on slow links."""

from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import Run, mpirun

pytestmark = pytest.mark.multiproc

# Every rank has a node of its own then.
SLOW = {
    "THINWIRE_CODEC": "expack",
    "THINWIRE_SAME_NODE": "1",
    "THINWIRE_THRESHOLD": "512",
    "THINWIRE_FORCE": "1",
    "THINWIRE_LINK": "1gbit",
    "THINWIRE_LOG": "debug",
}
FAST = {**SLOW, "THINWIRE_LINK": "100gbit"}
SAID = "messages of collectives to other nodes travel in parts"


def parts(mpi: Mpi, ranks: int, settings: dict[str, str], report: Path) -> Run:
    program = [mpi.programs / "shim_coll_parts"]
    done = mpirun(ranks, program, mpi.production, settings, report, timeout=100, mpi=mpi)
    found = done.all_right(ranks).collectives
    assert found["compressed"] > 50 * ranks
    assert 0 < found["raw_packets"] < found["packets"]
    return done


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_all_values_arrive_under_every_mpi(mpi: Mpi, tmp_path: Path) -> None:
    done = parts(mpi, 3, SLOW, tmp_path / "report")
    assert any(SAID in line for line in done.thinwire_lines()) == (mpi.abi == "openmpi")


@pytest.mark.parametrize("ranks", [2, 4])
def test_all_values_arrive(ranks: int, tmp_path: Path) -> None:
    parts(SYSTEM, ranks, SLOW, tmp_path / "report")


def test_fast_links_have_whole_messages(tmp_path: Path) -> None:
    done = parts(SYSTEM, 3, FAST, tmp_path / "report")
    assert not any(SAID in line for line in done.thinwire_lines())


def test_parts_change_no_byte_of_a_packet(tmp_path: Path) -> None:
    slow = parts(SYSTEM, 3, SLOW, tmp_path / "slow").collectives
    fast = parts(SYSTEM, 3, FAST, tmp_path / "fast").collectives
    assert slow["bytes"] == fast["bytes"]
    assert slow["compressed"] == fast["compressed"]
