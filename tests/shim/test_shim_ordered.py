"""Reductions in the order of the ranks: the same bits compressed and raw, whatever the call."""

from pathlib import Path

import pytest
from mpis import OTHERS, SYSTEM, Mpi
from shim_runs import PROGRAMS, Run, mpirun

pytestmark = pytest.mark.multiproc

ORDERED = {"THINWIRE_CODEC": "lossless:reductions=ordered"}
# All that can be compressed is; smaller calls, non-blocking ones before it and scans stay raw.
COMPRESSED = {
    **ORDERED,
    "THINWIRE_FORCE": "1",
    "THINWIRE_SAME_NODE": "1",
    "THINWIRE_THRESHOLD": "4096",
}
RAW = {**ORDERED, "THINWIRE_LINK": "1000gbit"}
EXACT = {"THINWIRE_CODEC": "lossless:reductions=exact"}
# The program's words by which it looks for exact sums; under MPICH 4, too.
EXACTLY = ["20000", "1", "exact"]
EXACTLY_AT_ONCE = ["20000", "0", "exact"]


def ordered(
    mpi: Mpi, ranks: int, settings: dict[str, str], report: Path | None, *words: str
) -> Run:
    program = [mpi.programs / "shim_coll_ordered", *words]
    return mpirun(ranks, program, mpi.production, settings, report, timeout=120, mpi=mpi)


@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
@pytest.mark.parametrize("settings", [RAW, COMPRESSED], ids=["raw", "compressed"])
def test_sums_are_those_of_the_ranks_in_order(
    settings: dict[str, str], ranks: int, tmp_path: Path
) -> None:
    done = ordered(SYSTEM, ranks, settings, tmp_path / "report").all_right(ranks)
    assert (done.collectives["compressed"] > 0) == (settings is COMPRESSED)
    assert done.collectives["in_rank_order"] > 1000


@pytest.mark.parametrize("mpi", OTHERS, ids=lambda mpi: mpi.name)
def test_under_every_mpi(mpi: Mpi, tmp_path: Path) -> None:
    """Small calls go raw here, too."""
    words = ["20000", "0"] if mpi.name == "mpich" else []
    ordered(mpi, 4, COMPRESSED, tmp_path / "report", *words).all_right(4)


@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
@pytest.mark.parametrize("settings", [RAW, COMPRESSED], ids=["raw", "compressed"])
def test_exact_sums_are_those_of_the_values(
    settings: dict[str, str], ranks: int, tmp_path: Path
) -> None:
    """Whatever else is in the order of the ranks is so here, too."""
    done = ordered(SYSTEM, ranks, settings | EXACT, tmp_path / "report", *EXACTLY).all_right(ranks)
    assert (done.collectives["compressed"] > 0) == (settings is COMPRESSED)
    assert done.collectives["in_rank_order"] > 1000
    said = "reductions=exact: a sum of long double is added in the order of the ranks"
    assert done.errors.count(said) == 1


@pytest.mark.parametrize("mpi", OTHERS, ids=lambda mpi: mpi.name)
def test_exact_sums_under_every_mpi(mpi: Mpi, tmp_path: Path) -> None:
    words = EXACTLY_AT_ONCE if mpi.name == "mpich" else EXACTLY
    ordered(mpi, 4, COMPRESSED | EXACT, tmp_path / "report", *words).all_right(4)


def test_sums_in_order_are_not_exact() -> None:
    """The program notices it."""
    done = ordered(SYSTEM, 4, RAW, None, *EXACTLY)
    assert "came to something else" in done.output


@pytest.mark.parametrize("mpi", OTHERS, ids=lambda mpi: mpi.name)
def test_persistent_requests_may_be_started_in_any_order(mpi: Mpi) -> None:
    """Raw: they are matched as the MPI matches its own."""
    if mpi.name == "mpich":
        pytest.skip("MPICH 4 loses values of persistent gathers: its sums stay its own")
    ordered(mpi, 3, RAW, None).all_right(3)


def test_it_is_said_if_no_collective_is_named() -> None:
    done = ordered(SYSTEM, 2, {**ORDERED, "THINWIRE_COLLECTIVES": "off"}, None)
    assert done.code == 0
    assert done.errors.count("sums stay in the MPI's own order") == 1


@pytest.mark.parametrize("settings", [RAW, COMPRESSED], ids=["raw", "compressed"])
def test_arrays_that_go_in_several_rounds(settings: dict[str, str], tmp_path: Path) -> None:
    ordered(SYSTEM, 3, settings, tmp_path / "report", "9000001").all_right(3)
    words = ["9000001", "1", "exact"]
    ordered(SYSTEM, 3, settings | EXACT, tmp_path / "report", *words).all_right(3)


def test_the_mpi_itself_adds_in_another_order() -> None:
    """The program notices it; and a rank without the library leaves all to the MPI."""
    done = mpirun(4, [PROGRAMS / "shim_coll_ordered"])
    assert done.code == 0
    assert "came to something else" in done.output


def test_ranks_that_differ_leave_their_sums_to_the_mpi() -> None:
    """Nobody hangs or fails, and one line says why."""
    program = PROGRAMS / "shim_coll_ordered"
    other = ["env", "-u", "THINWIRE_CODEC", f"LD_PRELOAD={SYSTEM.production}", str(program)]
    words = [f"LD_PRELOAD={SYSTEM.production}", str(program)]
    done = mpirun(3, ["env", *words, ":", "-n", "1", *other], None, ORDERED)
    assert done.code == 0, done.output + done.errors
    assert "came to something else" in done.output
    assert done.errors.count("sums on a communicator of 4 ranks are in the MPI's own order") == 1


def by_rules(folder: Path, *rules: str) -> dict[str, str]:
    """Settings under which rules alone name codecs."""
    path = folder / "policy.toml"
    path.write_text("".join(f"[[rule]]\n{rule}\n" for rule in rules))
    return {**RAW, "THINWIRE_CODEC": "lossless", "THINWIRE_POLICY": str(path)}


@pytest.mark.parametrize("order", ["ordered", "exact"])
def test_a_rule_orders_raw_sums(order: str, tmp_path: Path) -> None:
    settings = by_rules(tmp_path, f'codec = "lossless:reductions={order}"')
    words = EXACTLY if order == "exact" else []
    done = ordered(SYSTEM, 4, settings, tmp_path / "report", *words).all_right(4)
    assert done.collectives["compressed"] == 0
    assert done.collectives["in_rank_order"] > 1000
    assert done.errors.count("no rule orders") == 0


@pytest.mark.parametrize("mpi", OTHERS, ids=lambda mpi: mpi.name)
def test_a_rule_orders_raw_sums_under_every_mpi(mpi: Mpi, tmp_path: Path) -> None:
    settings = by_rules(
        tmp_path, 'communicator = "MPI_COMM_WORLD"\ncodec = "lossless:reductions=ordered"'
    )
    words = ["20000", "0"] if mpi.name == "mpich" else []
    ordered(mpi, 3, settings, None, *words).all_right(3)


def test_a_rule_orders_what_it_takes(tmp_path: Path) -> None:
    """Exact sums of floats alone: all others are in the order that is asked of all calls."""
    rule = 'dtype = "f32"\ncodec = "lossless:reductions=exact"'
    settings = {**by_rules(tmp_path, rule), **ORDERED}
    done = ordered(SYSTEM, 4, settings, tmp_path / "report", *EXACTLY)
    told = [line for line in done.output.splitlines() if "is another" in line]
    assert told
    assert all(" doubles " in line for line in told), done.output
    assert done.collectives["in_rank_order"] > 1000


SUMS = 'communicator = "sums"\ncodec = "lossless:reductions=ordered"'


def named(name: str, settings: dict[str, str]) -> Run:
    return mpirun(4, [PROGRAMS / "shim_coll_named", name], SYSTEM.production, settings)


CODED = {"THINWIRE_FORCE": "1", "THINWIRE_SAME_NODE": "1", "THINWIRE_THRESHOLD": "1000"}
EITHER_WAY = pytest.mark.parametrize("settings", [{}, CODED], ids=["raw", "compressed"])


@EITHER_WAY
def test_a_rule_orders_from_the_first_blocking_reduction_on(
    settings: dict[str, str], tmp_path: Path
) -> None:
    """Which rules take a communicator's sums its ranks compare in a call that waits for all."""
    done = named("same", by_rules(tmp_path, SUMS) | settings)
    assert done.code == 0, done.errors
    for rank in range(4):
        assert f"rank {rank}: other in-order in-order" in done.output
    assert done.errors.count("no rule orders sums that do not block before") == 1


@EITHER_WAY
def test_a_later_name_changes_no_sum(settings: dict[str, str], tmp_path: Path) -> None:
    """Else sums that are now raw and now compressed had now these bits and now those."""
    done = named("late", by_rules(tmp_path, SUMS) | settings)
    assert done.code == 0, done.errors
    assert done.output.count("other other other") == 4, done.output


def test_ranks_that_call_a_communicator_differently_leave_its_sums_to_the_mpi(
    tmp_path: Path,
) -> None:
    done = named("other", by_rules(tmp_path, SUMS))
    assert done.code == 0, done.errors
    for rank in range(4):
        assert f"rank {rank}: other other other" in done.output
    assert done.errors.count("that its ranks call differently") == 1


def test_coded_and_native_reductions_are_as_ever(tmp_path: Path) -> None:
    """Without the option nothing is added by the library that it does not compress."""
    settings = {"THINWIRE_CODEC": "lossless", "THINWIRE_FORCE": "1"}
    done = ordered(SYSTEM, 4, settings, tmp_path / "report")
    assert done.code == 0, done.output + done.errors
    assert done.collectives["compressed"] == 0
    assert done.collectives["in_rank_order"] == 0
