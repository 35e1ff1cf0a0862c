"""Patterns of small calls, with nothing to compress: right, and about as fast as natively."""

import importlib.util
import sys
from types import ModuleType

import pytest
from mpis import ALL, ROOT, Mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
PATTERNS = 25
# A call may cost twice what `bench/small_calls/cost.py` has as its aim: under MPI_THREAD_MULTIPLE
# MPI_Sendrecv and MPI_Waitany of persistent requests do.
MOST_NANOSECONDS = 200.0


def load_cost() -> ModuleType:
    path = ROOT / "bench" / "small_calls" / "cost.py"
    spec = importlib.util.spec_from_file_location("small_calls_cost", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# Receives are looked at from 16 KiB on.
@pytest.mark.parametrize("floats", [64, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_all_patterns_are_right(mpi: Mpi, floats: int) -> None:
    program = [mpi.programs / "shim_small_calls", "5", str(floats), "threads", "beside"]
    done = mpirun(2, program, mpi.production, CODEC, timeout=120, mpi=mpi).all_right(2)
    assert done.output.count('"verified": true') >= PATTERNS
    assert done.thinwire_lines() == []


# One process alone, by the time that its processor takes: others' work disturbs that least.
@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_small_calls_cost_little(mpi: Mpi) -> None:
    cost = load_cost()
    ways = {"native": None, "library": mpi.production}
    program = mpi.programs / "shim_small_calls"
    slow = []
    for case in cost.CASES[:4]:
        least = cost.by_turns(case, program, ways, mpi.launcher, turns=3)
        for pattern, native in least["native"].items():
            here = least["library"][pattern]
            if here > cost.RATIO * native + MOST_NANOSECONDS:
                slow.append((pattern, str(case), native, here))
    assert slow == []
