import json
from pathlib import Path

import numpy as np
import pytest
import typer
from made_up_links import FastLink

from thinwire.bench import raw, turns
from thinwire.bench.programs import BenchError, Loopback
from thinwire.bench.raw import RawRuns, RawSession
from thinwire.bench.raw_rows import make_rows, upper_bound_of_median
from thinwire.cli.bench_raw import pairs_of_sizes
from thinwire.lab.shaping import parse_link

REPORT = {
    "compressed_messages": 0,
    "copied_receives": 0,
    "receives_through_scratch": 0,
    "receives_in_place": 10,
    "continuations": 10,
    "allocations": 13,
}
LOOPBACK = ("raw", "--loopback", "--sizes", "64KiB", "--pairs", "4")


def make_row(pairs=((1.0, 1.01),), setting="prepared", unverified=0, dropped=0, **changes):
    """The row of a megabyte, from figures that no program measured."""
    size = 1_000_000
    session = RawSession(None, (size,), (len(pairs),), 1, setting, "zfp:rate=16", None)
    runs = RawRuns({size: [list(pairs)]}, {size: unverified}, messages=10)
    runs.reports.append(REPORT | changes)
    (row,) = make_rows(FastLink(dropped), session, runs)
    return row


def test_the_bound_is_where_order_statistics_have_it():
    # The value, of 200, that lies 1.645 * sqrt(200) / 2 = 11.6 places above the middle.
    values = np.arange(200.0)
    assert upper_bound_of_median([values]) == pytest.approx(99.5 + 11.6, abs=2)
    assert upper_bound_of_median([[1.25] * 7]) == 1.25
    with pytest.raises(ValueError):
        upper_bound_of_median([[]])


def test_the_bound_holds_as_often_as_it_says():
    random = np.random.default_rng(5)
    samples = random.exponential(size=(300, 50))
    held = sum(upper_bound_of_median([sample]) >= np.log(2) for sample in samples)
    assert 0.91 < held / len(samples) < 0.99


def test_pairs_that_share_their_jobs_count_as_one_draw():
    # Whether jobs lie well is decided once a round: ten rounds know less than 200 pairs claim.
    random = np.random.default_rng(7)
    rounds = random.normal(1.0, 0.05, size=(10, 1)) + random.normal(0, 0.001, size=(10, 20))
    assert upper_bound_of_median(rounds) > upper_bound_of_median(rounds.reshape(1, -1))
    assert upper_bound_of_median(rounds) > np.median(rounds) + 0.01


def test_a_few_disturbed_pairs_do_not_move_the_bound():
    values = np.linspace(0.99, 1.01, 200)
    disturbed = np.where(np.arange(200) < 195, values, 50.0)
    assert upper_bound_of_median([disturbed]) == upper_bound_of_median([values])


def test_the_ratio_is_that_of_pairs_and_not_of_medians():
    row = make_row([(1.0, 1.1), (2.0, 2.2), (9.0, 8.1)])
    assert row.ratio == pytest.approx(1.1) and row.ratio_bound == pytest.approx(1.1)
    assert row.within is False and row.verified
    assert make_row([(1.0, 1.01)] * 5).within is True


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"compressed_messages": 1}, "1 compressed messages"),
        ({"copied_receives": 2, "receives_through_scratch": 2}, "2 copied receives"),
        ({"receives_in_place": 9}, "9 receives in place, not 10"),
        ({"allocations": 1000}, "1000 allocations"),
        ({"unverified": 3}, "3 messages changed"),
        ({"dropped": 4}, "4 packets dropped"),
        ({"pairs": [(0.0005, 0.001)]}, "beat the link"),
    ],
)
def test_what_was_not_measured_as_it_should_has_no_figures(changes, words):
    row = make_row(**changes)
    assert not row.verified and words in row.note
    assert row.ratio is row.ratio_bound is row.within is row.shim_seconds is None


def test_default_settings_need_no_receive_in_place():
    assert make_row(setting="default", receives_in_place=0).verified


def test_pairs_are_one_number_or_one_a_size():
    assert pairs_of_sizes("200", 3) == (200, 200, 200)
    assert pairs_of_sizes("200,50", 2) == (200, 50)
    for text in ("200,50", "0", "-1", "many", ""):
        with pytest.raises(typer.BadParameter):
            pairs_of_sizes(text, 3)


@pytest.mark.multiproc
@pytest.mark.parametrize("setting", ["prepared", "default", "none"])
def test_two_jobs_take_turns(bench, program, setting):
    words = ("--program", program("raw_turns"), "--setting", setting, "--rounds", "2", "--json")
    done = bench(*LOOPBACK, *words)
    assert done.exit_code == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)
    assert row["verified"] and row["pairs"] == 4 and row["messages"] == 5
    assert row["native_seconds"] > 0 and row["shim_seconds"] > 0
    assert row["receives_in_place"] == {"prepared": 5, "default": 0, "none": None}[setting]
    assert row["rounds"] == 2
    assert (row["continuations"] or 0) == (5 if setting == "prepared" else 0)


@pytest.mark.multiproc
def test_the_filler_of_a_shaped_link_arrives_in_place_as_well(bench, program, monkeypatch):
    monkeypatch.setattr(
        "thinwire.bench.programs.Loopback.burst_bytes", parse_link("1gbit").burst_bytes
    )
    done = bench(*LOOPBACK, "--program", program("raw_turns"), "--json")
    (row,) = json.loads(done.stdout)
    assert row["verified"] and row["receives_in_place"] == 14


@pytest.mark.multiproc
def test_messages_that_were_compressed_are_no_result(bench, program, monkeypatch):
    monkeypatch.setattr(raw, "THRESHOLD", "64KiB")
    words = ("--program", program("raw_turns"), "--codec", "zfp:rate=4", "--json")
    done = bench(*LOOPBACK, *words)
    assert done.exit_code == 1
    (row,) = json.loads(done.stdout)
    assert not row["verified"] and "7 compressed messages" in row["note"]
    # 4 bits a value do not hold these.
    assert "7 messages changed on their way" in row["note"]


@pytest.mark.multiproc
def test_a_program_that_does_not_answer_is_an_error(bench):
    done = bench(*LOOPBACK, "--program", "/bin/false")
    assert done.exit_code == 1 and "/bin/false" in done.stderr


def test_a_job_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(turns, "START_SECONDS", 0.2)
    with (
        pytest.raises(BenchError, match="too late"),
        turns.Job(Loopback(), ["sleep", "100"]) as job,
    ):
        job.turn(4, timeout=0.1)
    assert job.exit_code is not None


def test_two_jobs_keep_their_sessions_apart():
    # Two mpirun that make the folder of their sessions at one moment: one of them fails.
    say = ["sh", "-c", 'read line; echo "{\\"at\\": \\"$OMPI_MCA_orte_tmpdir_base\\"}"']
    with turns.Job(Loopback(), say) as one, turns.Job(Loopback(), say) as other:
        folders = {Path(job.turn(4, timeout=10)["at"]) for job in (one, other)}
        assert len(folders) == 2 and all(folder.is_dir() for folder in folders)
    assert not any(folder.exists() for folder in folders)


@pytest.mark.parametrize(
    "words", [("--setting", "some"), ("--sizes", "1KiB"), ("--pairs", "1,2"), ("--codec", "off")]
)
def test_raw_refuses_what_makes_no_sense(bench, words):
    assert bench(*LOOPBACK, *words, "--program", "/bin/false").exit_code == 2
