"""Receives that reach the MPI before a preload library's functions, by other ways than a look-up
of the program's in a module (RTLD_DEEPBIND, RTLD_NEXT)."""

from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi, linked_mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
ROUNDS = 4


def words(mpi: Mpi, way: str) -> list[str | Path]:
    program = mpi.programs / "shim_deep_ways"
    opened = {
        "looks-up": linked_mpi(program),
        "opens": mpi.programs / "libshim_deep_module.so",
    }
    library = [opened[way]] if way in opened else []
    return [program, way, mpi.programs / "libshim_deep_plugin.so", *library]


@pytest.mark.parametrize("way", ["registers", "looks-up", "opens", "beside", "next"])
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_receives_are_seen(mpi: Mpi, way: str, tmp_path: Path) -> None:
    program = words(mpi, way)
    mpirun(2, program, mpi=mpi).all_right(2)
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report.json", mpi=mpi)
    done.all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == ROUNDS


@pytest.mark.parametrize("other", [mpi for mpi in ALL if mpi.name == "mpich"], ids=str)
def test_a_module_of_another_mpi_keeps_it(other: Mpi) -> None:
    module = other.programs / "libshim_deep_plugin.so"
    program: list[str | Path] = [SYSTEM.programs / "shim_deep_ways", "alone", module]
    mpirun(1, program).all_right(1)
    mpirun(1, program, SYSTEM.production, CODEC).all_right(1)


def test_opening_again_costs_little() -> None:
    mpirun(1, words(SYSTEM, "costs"), SYSTEM.production, CODEC).all_right(1)
