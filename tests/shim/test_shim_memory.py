"""Programs that have no memory left when a message arrives."""

from functools import cache
from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import PRODUCTION, PROGRAMS, SHRINK, TESTING, Run, mpirun

from thinwire import codecs

MPC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
MESSAGES = 4

# A frame of raw is never sent. zfp also with chunks that the library has no memory of its own for.
CODERS = [row.example for row in codecs() if not row.gpu_only and row.name != "raw"]
CODERS += ["zfp:rate=16,shape=?x256x256"]


def run(limit: str, mpi: Mpi, codec: str | None, *more: str | Path, report: Path | None) -> Run:
    program = [mpi.programs / "shim_memory_limit", limit, *more]
    settings = {} if codec is None else {**MPC, "THINWIRE_CODEC": codec}
    library = None if codec is None else mpi.testing
    return mpirun(2, program, library, settings, report, mpi=mpi)


@cache
def without_a_limit(mpi: Mpi, codec: str | None) -> str:
    done = run("nothing", mpi, codec, report=None)
    assert done.code == 0, done.errors
    return done.output


# Intel MPI crashes under such a limit by itself.
UNDER_A_LIMIT = [mpi for mpi in ALL if not mpi.name.startswith("impi")]


@pytest.mark.multiproc
@pytest.mark.parametrize("limit", ["data", "addresses"])
@pytest.mark.parametrize("mpi", UNDER_A_LIMIT, ids=lambda mpi: mpi.name)
def test_a_receive_needs_no_memory_of_the_process(mpi: Mpi, limit: str, tmp_path: Path) -> None:
    alone = run(limit, mpi, None, report=None)
    assert alone.code == 0, alone.errors
    done = run(limit, mpi, "mpc", report=tmp_path / "report")
    assert (done.code, done.output) == (0, alone.output), done.errors
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == MESSAGES
    assert done.report["messages_without_memory"] == 0


@pytest.mark.multiproc
@pytest.mark.parametrize("codec", CODERS)
def test_every_codec_decodes_without_addresses(codec: str, tmp_path: Path) -> None:
    done = run("addresses", ALL[0], codec, report=tmp_path / "report")
    assert (done.code, done.output) == (0, without_a_limit(ALL[0], codec)), done.errors
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == MESSAGES


@pytest.mark.multiproc
@pytest.mark.parametrize("limit", ["data", "addresses"])
def test_the_true_reason_is_said(limit: str, tmp_path: Path) -> None:
    """Where there is no room for a file either."""
    done = run(limit, ALL[0], "mpc", "/nowhere", report=tmp_path / "report")
    assert done.code != 0
    assert "has no memory, nor room in TMPDIR" in done.errors
    assert "truncated" not in done.errors


@pytest.mark.multiproc
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_communicators_share_the_memory_of_collectives(mpi: Mpi, tmp_path: Path) -> None:
    """What one has worked in the next works in; what lies idle is within the bound."""
    bound, ranks = 64 << 20, 2
    settings = {**MPC, "THINWIRE_POOL": "64MiB"}
    program = [mpi.programs / "shim_coll_memory"]
    done = mpirun(ranks, program, mpi.testing, settings, tmp_path / "report", mpi=mpi)
    assert done.code == 0, done.output + done.errors
    assert done.report is not None
    assert done.report["collectives"]["compressed"] == ranks * 2 * 12
    pool = done.report["pools"]["host"]
    assert pool["loaned_bytes"] == 0
    assert 0 < pool["idle_bytes"] <= ranks * bound
    assert pool["loans"] >= ranks * 2 * 12 and pool["allocations"] < pool["loans"] / 2
    assert int(done.output.split()[-1]) < 16 << 20


# MPICH ends by itself if its own messages are refused memory, and its standard ABI if MPI_Testsome
# is, which compressed broadcasts call. MPICH 5 crashes in their MPI_Isend.
REFUSED = [(mpi, what) for mpi in ALL if mpi.abi != "abi" for what in ("wb", "w1b")]
REFUSED += [(ALL[0], what) for what in ("we", "wp")]


@pytest.mark.multiproc
@pytest.mark.parametrize(("mpi", "what"), REFUSED, ids=lambda each: getattr(each, "name", each))
def test_a_process_that_is_refused_all_memory_goes_on(mpi: Mpi, what: str) -> None:
    """As natively; where the MPI itself needs memory, there is nothing to compare."""
    program = [mpi.programs / "shim_refused_memory", what]
    alone = mpirun(2, program, None, {}, None, mpi=mpi)
    if alone.code != 0 or " 0 failed" not in alone.output:
        pytest.skip("this MPI needs memory itself")
    forced = [] if mpi.name.startswith("mpich-5") else [{**MPC, "THINWIRE_FORCE": "1"}]
    for settings in ({}, *forced):
        done = mpirun(2, program, mpi.production, settings, None, mpi=mpi)
        assert done.code == 0, done.output + done.errors
        assert sorted(done.output.splitlines()) == sorted(alone.output.splitlines())


# Messages above 2 GiB, alone and under the library: minutes, and some 10 GiB of memory.

PROGRAM = PROGRAMS / "shim_conformance"
CASES = 6  # of an MPI without large counts
LIMIT_S = 1200

CONFIGURATIONS = {
    "native": (None, {}),
    "shrink": (TESTING, SHRINK),
    "mpc": (PRODUCTION, {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}),
}


@pytest.mark.multiproc
@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_huge_messages_arrive(configuration: str, tmp_path: Path) -> None:
    library, settings = CONFIGURATIONS[configuration]
    report = tmp_path / "report.json" if library else None
    done = mpirun(2, [PROGRAM, "huge"], library, settings, report, timeout=LIMIT_S)
    assert done.code == 0, done.output + done.errors
    assert done.output.count("PASS ") >= CASES
    if report is not None:
        assert done.report is not None
        assert done.report["damaged_messages"] == 0
        assert done.report["compressed_messages"] == done.report["decoded_messages"] >= CASES
