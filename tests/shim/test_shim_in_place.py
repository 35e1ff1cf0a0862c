"""Receives straight into the user's buffer: what they cost, and what outlives what."""

from pathlib import Path

import pytest
from shim_runs import EXCHANGE, PRODUCTION, PROGRAMS, SHRINK, TESTING, ZFP, mpirun

pytestmark = pytest.mark.multiproc

CONFORMANCE = PROGRAMS / "shim_conformance"
BYTES = 1 << 20

# Every receive may meet a frame, and none does.
RAW = {**ZFP, "THINWIRE_THRESHOLD": "1GiB"}


def exchange(settings: dict[str, str], rounds: int, report: Path) -> dict:
    """The report of two ranks that exchange messages of exactly the size of the receives."""
    words = [EXCHANGE, str(BYTES), str(rounds)]
    done = mpirun(2, words, PRODUCTION, settings, report)
    assert done.code == 0, done.errors
    assert done.report is not None
    return done.report


def test_a_raw_receive_pays_no_copy_and_no_allocation(tmp_path: Path) -> None:
    few = exchange(RAW, 10, tmp_path / "few")
    many = exchange(RAW, 60, tmp_path / "many")
    assert many["receives_in_place"] == many["continuations"] == 120
    assert many["receives_through_scratch"] == many["copied_receives"] == 0
    assert many["deferred_writes"] == 0
    assert many["allocations"] == few["allocations"]


def test_a_compressed_message_allocates_nothing_in_a_steady_state(tmp_path: Path) -> None:
    few = exchange(ZFP, 10, tmp_path / "few")
    many = exchange(ZFP, 60, tmp_path / "many")
    assert many["decoded_messages"] == many["receives_in_place"] == 120
    assert many["receives_through_scratch"] == 0
    assert many["allocations"] == few["allocations"]


def test_peers_that_never_compress_cost_nothing(tmp_path: Path) -> None:
    settings = {"THINWIRE_CODEC": "zfp:rate=16"}  # both ranks are on one node
    few = exchange(settings, 10, tmp_path / "few")
    many = exchange(settings, 60, tmp_path / "many")
    assert many["continuations"] == 0
    assert many["receives_in_place"] == many["receives_through_scratch"] == 0
    assert many["allocations"] == few["allocations"]  # of pools that nobody uses


@pytest.mark.parametrize("case", ["interleaved_columns", "elements_that_interleave"])
def test_interleaved_columns_are_all_in_place(case: str, tmp_path: Path) -> None:
    done = mpirun(2, [CONFORMANCE, "in_place", case], TESTING, SHRINK, tmp_path / "report")
    assert done.code == 0, done.output + done.errors
    assert done.report is not None
    assert done.report["receives_in_place"] in (6, 12)
    assert done.report["receives_through_scratch"] == 0


def test_a_shared_buffer_defers_what_it_must(tmp_path: Path) -> None:
    words = [CONFORMANCE, "in_place", "window_into_one_buffer"]
    done = mpirun(2, words, TESTING, SHRINK, tmp_path / "report")
    assert done.code == 0, done.output + done.errors
    report = done.report
    assert report is not None
    # One receive of each round's window is in place, and it is the last to be completed.
    assert report["receives_in_place"] == 3
    assert report["receives_through_scratch"] == report["deferred_writes"] == 3 * 63
    assert report["decoded_messages"] == report["compressed_messages"] == 3 * 64


def test_errors_of_a_freed_communicator_reach_its_handler() -> None:
    """Those of this library: what an MPI truncates itself it raises itself."""
    done = mpirun(2, [PROGRAMS / "shim_freed_communicator"], TESTING, SHRINK)
    assert (done.code, done.output) == (0, "wrong at step 0\n"), done.output + done.errors
