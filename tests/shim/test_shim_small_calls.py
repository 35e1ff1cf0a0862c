"""Patterns of small calls, with nothing to compress: right, and about as fast as natively."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from mpis import ALL, ROOT, SYSTEM, Mpi
from shim_runs import PRODUCTION, PROGRAMS, Run, mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
PATTERNS = 25
# A call may cost twice what `bench/studies/small_calls/cost.py` has as its aim: under
# MPI_THREAD_MULTIPLE MPI_Sendrecv and MPI_Waitany of persistent requests do.
MOST_NANOSECONDS = 200.0


def load_cost() -> ModuleType:
    path = ROOT / "bench" / "studies" / "small_calls" / "cost.py"
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


# Many requests at once: completing some of them takes about as long as without the library.


# Receives are looked at from 16 KiB on, and messages compressed from 64 on.
BYTES = "20000"
LEVELS = {"single": ["3000", BYTES], "multiple": ["2000", BYTES, "multiple"]}


def times(done: Run) -> dict[str, float]:
    lines = [line.split() for line in done.output.splitlines()]
    return {words[0]: float(words[1]) for words in lines if words[0] != "all"}


@pytest.mark.alone
@pytest.mark.parametrize("level", LEVELS)
def test_completing_some_takes_no_longer(level: str) -> None:
    program = [SYSTEM.programs / "shim_many_requests", *LEVELS[level]]
    natively = times(mpirun(2, program, timeout=120).all_right(2))
    here = times(mpirun(2, program, SYSTEM.production, CODEC, timeout=120).all_right(2))
    assert set(here) == {"waitany", "testany", "waitsome", "testsome", "testall"}
    assert all(here[way] < 3 * natively[way] + 40 for way in here), (natively, here)


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_threads_complete_some_of_theirs(mpi: Mpi, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_many_requests", "threads"]
    report = tmp_path / "report.json"
    done = mpirun(2, program, mpi.production, CODEC, report, timeout=120, mpi=mpi).all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"]


# A new datatype for each message: what the library takes to know where its blocks lie.


BLOCKS, ROUNDS = str(1 << 19), "15"
# Messages are looked at, and go raw.
RAW = {"THINWIRE_CODEC": "auto", "THINWIRE_SAME_NODE": "1", "THINWIRE_LINK": "8000gbit"}


def report_of_fresh_types(mpi: Mpi, settings: dict[str, str], path: Path) -> dict:
    program = [mpi.programs / "shim_fresh_types", "40000", "3"]
    done = mpirun(2, program, mpi.production, settings, path, timeout=120, mpi=mpi).all_right(2)
    assert done.report is not None
    return done.report


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_types_that_are_made_for_a_message(mpi: Mpi, tmp_path: Path) -> None:
    report = report_of_fresh_types(mpi, CODEC, tmp_path / "report.json")
    assert report["decoded_messages"] == 15  # of four kinds, one of which is sent twice


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_raw_messages_of_such_types_go_to_the_programs_buffer(mpi: Mpi, tmp_path: Path) -> None:
    report = report_of_fresh_types(mpi, RAW, tmp_path / "report.json")
    assert report["decoded_messages"] == 0
    assert report["receives_through_scratch"] == 0


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


# Data that does not shrink: how often the library tries, and that it notices when data
# changes.


# The line that nothing was compressed comes at the end, as a warning.
SETTINGS = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1", "THINWIRE_LOG": "warning"}
DECLINED = "data declined by the codec"
SKIPPED = "not tried: data declined lately"


def report_of(report: Path, way: str, random: int, smooth: int, **settings: str) -> dict:
    """What rank 0 sent, with every message's bits checked by rank 1."""
    program = [PROGRAMS / "shim_declines", way, str(random), str(smooth)]
    done = mpirun(2, program, PRODUCTION, {**SETTINGS, **settings}, report)
    assert (done.code, done.output) == (0, ""), done.errors
    told = ["nothing was compressed: " in line for line in done.thinwire_lines()]
    assert told == ([] if smooth > 0 else [True]), done.errors
    assert done.report is not None
    return done.report


@pytest.mark.parametrize("way", ["send", "isend", "persistent"])
@pytest.mark.parametrize("codec", ["mpc", "lorenzo", "szp:abs=1e-300"])
def test_random_data_is_seldom_tried(tmp_path: Path, way: str, codec: str) -> None:
    report = report_of(tmp_path / "report", way, 200, 0, THINWIRE_CODEC=codec)
    assert report["compressed_messages"] == 0
    assert report["raw_by_reason"] == {DECLINED: 10, SKIPPED: 190}


@pytest.mark.parametrize("way", ["send", "persistent"])
def test_data_that_compresses_again_is_found(tmp_path: Path, way: str) -> None:
    """The attempts are messages 0, 1, 3, 6, 11, 20, 37, 70 and then 134."""
    report = report_of(tmp_path / "report", way, 71, 200)
    assert report["raw_by_reason"] == {DECLINED: 8, SKIPPED: 126}
    assert report["compressed_messages"] == report["decoded_messages"] == 71 + 200 - 134


def test_data_that_compresses_is_always_tried(tmp_path: Path) -> None:
    report = report_of(tmp_path / "report", "send", 0, 100)
    assert report["compressed_messages"] == 100
    assert report["raw_by_reason"] == {}


def test_a_long_run_of_declines_allocates_no_more(tmp_path: Path) -> None:
    short = report_of(tmp_path / "short", "send", 40, 0)
    long = report_of(tmp_path / "long", "send", 400, 0)
    assert long["allocations"] == short["allocations"]
