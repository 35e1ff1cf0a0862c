"""Calls that a program looks up in the MPI's library, where no preload library is searched."""

import sys
from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi, linked_mpi
from shim_runs import PROGRAMS, SHRINK, TESTING, mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
ROUNDS = 4


@pytest.fixture(params=ALL, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


def test_looked_up_and_linked_calls_meet(mpi: Mpi, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_looked_up", linked_mpi(mpi.programs / "shim_looked_up")]
    mpirun(2, program, mpi=mpi).all_right(2)
    report = tmp_path / "report.json"
    done = mpirun(2, program, mpi.production, CODEC, report, mpi=mpi).all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == ROUNDS
    assert done.collectives["compressed"] == 2 * ROUNDS


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("binding", ["now", "lazy"])
def test_a_module_that_is_bound_deeply_meets_linked_calls(
    mpi: Mpi, binding: str, when: str, tmp_path: Path
) -> None:
    program = [
        mpi.programs / "shim_deep_host",
        mpi.programs / "libshim_deep_module.so",
        binding,
        when,
    ]
    mpirun(2, program, mpi=mpi).all_right(2)
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report.json", mpi=mpi)
    done.all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == ROUNDS
    assert done.collectives["compressed"] == 2 * ROUNDS


PYTHON = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
mpi.MPI_Init(None, None)
world = ctypes.c_void_p.in_dll(mpi, "ompi_mpi_comm_world")
rank = ctypes.c_int()
comm, kind = ctypes.byref(world), ctypes.byref(ctypes.c_void_p.in_dll(mpi, "ompi_mpi_float"))
mpi.MPI_Comm_rank(comm, ctypes.byref(rank))
values = (ctypes.c_float * 100000)(*(range(100000) if rank.value == 0 else ()))
if rank.value == 0:
    mpi.MPI_Send(values, 100000, kind, 1, 1, comm)
else:
    mpi.MPI_Recv(values, 100000, kind, 0, 1, comm, None)
mpi.MPI_Finalize()
if list(values) == list(range(100000)):
    print("all right")
"""


def test_pythons_ctypes_are_seen(tmp_path: Path) -> None:
    """Where every call is looked up, and nothing is linked to the MPI."""
    mpi = ALL[0]
    program = [sys.executable, "-c", PYTHON, linked_mpi(mpi.programs / "shim_exchange")]
    done = mpirun(2, program, mpi.production, CODEC, tmp_path / "report.json").all_right(2)
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == 1


# Receives that reach the MPI before a preload library's functions, by other ways than a look-
# up of the program's in a module (RTLD_DEEPBIND, RTLD_NEXT).


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


# A program without MPI that loads a library with MPI privately, so that no symbol is global.


HOST, PLUGIN = PROGRAMS / "shim_plugin_host", PROGRAMS / "libshim_plugin.so"
MESSAGES = 6


def test_runs_without_the_library() -> None:
    done = mpirun(2, [HOST, PLUGIN])
    assert (done.code, done.errors) == (0, "")
    assert done.output.count("as it should be") == 2


@pytest.mark.parametrize("binding", [[], ["deep"]], ids=["plain", "deep"])
def test_messages_of_a_plugin_are_compressed(binding: list[str], tmp_path: Path) -> None:
    done = mpirun(2, [HOST, PLUGIN, *binding], TESTING, SHRINK, tmp_path / "report.json")
    assert (done.code, done.errors) == (0, "")
    assert done.output.count("as it should be") == 2
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == MESSAGES
