"""Random legal programs come to the same with and without the library; their features are many."""

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from legality_compare import KEPT, Summary, compare, still_differs
from legality_configurations import (
    CONFIGURATIONS,
    CORNERS,
    KNOWN,
    LEFT_OUT,
    configuration,
    configuration_of,
    expected,
    left_out,
    wants_threads,
)
from legality_jobs import MPIS, Job, feature_names, program_of, ranges, run_seeds

from thinwire.lab import Lab, LabUnavailable

pytestmark = pytest.mark.multiproc

# Rounds of 20 seeds an MPI.
ROUNDS = 1 if "THINWIRE_TEST_BRIEF" in os.environ else 6
# A round's two programs of a codec may hold nothing that it takes: it has others then.
EXTRA_ROUNDS = 4
ALL_SEEDS = 10_000
RANKS = 4
AT_ONCE = max(1, (os.cpu_count() or 1) // RANKS)


def is_fine(summary: Summary) -> None:
    assert summary.differences == []
    assert summary.unfit == {}


@pytest.mark.parametrize("name", MPIS)
def test_programs_of_this_build(name: str) -> None:
    assert program_of(MPIS[name]).exists(), "run `make build-tests`"
    assert len(feature_names(MPIS[name])) > 80


def test_what_is_left_out_is_a_feature_of_an_mpi() -> None:
    features = set(feature_names(MPIS["openmpi"]))
    assert all({*row} < features for row in LEFT_OUT.values())
    assert left_out("openmpi-5.0.11") == LEFT_OUT["openmpi-5"]
    assert left_out("mpich-5.0.2-abi") == LEFT_OUT["mpich-5"] | KNOWN["mpich-5"]
    assert left_out("mpich") == LEFT_OUT["mpich"] | KNOWN["mpich"]


@pytest.mark.parametrize("name", MPIS)
def test_a_seed_is_one_program(name: str) -> None:
    """The generator's own test: natively the same seeds come to the same twice."""
    job = Job(MPIS[name], ranks=RANKS, threads=True)
    first, second = run_seeds(job, range(20)), run_seeds(job, range(20))
    assert first.said == second.said == {}
    assert first.lines == second.lines
    assert len({line.all for line in first.lines.values()}) == 20


def test_what_is_dropped_changes_nothing_else() -> None:
    job = Job(MPIS["openmpi"], ranks=RANKS, threads=False)
    whole = run_seeds(job, [3]).lines[3].phases
    part = run_seeds(replace(job, drop=("0",)), [3]).lines[3].phases
    assert part[0] != whole[0]
    assert part[1:] == whole[1:]


def seeds_of(name: str, rounds: range) -> list[int]:
    """Of each codec two in a round, with threads and without by turns; other seeds an MPI, as they
    are few."""
    place = list(MPIS).index(name)
    start, length = 20_000 + 10_000 * place, 4 * len(CONFIGURATIONS)
    seeds = range(start + rounds.start * length, start + rounds.stop * length)
    return [seed for seed in seeds if wants_threads(seed) == ((seed - start) // length + place) % 2]


@pytest.mark.alone
@pytest.mark.parametrize("name", MPIS)
def test_some_seeds_of_every_codec(name: str) -> None:
    summary = compare(MPIS[name], RANKS, seeds_of(name, range(ROUNDS)), at_once=AT_ONCE)
    assert summary.seeds == 2 * ROUNDS * len(CONFIGURATIONS)
    assert set(summary.compressed) == {each.codec for each in CONFIGURATIONS}
    for extra in range(ROUNDS, ROUNDS + EXTRA_ROUNDS):
        unused = {codec for codec, count in summary.compressed.items() if count == 0}
        more = seeds_of(name, range(extra, extra + 1))
        more = [seed for seed in more if configuration_of(seed).codec in unused]
        if more:
            summary.add(compare(MPIS[name], RANKS, more, at_once=AT_ONCE))
    is_fine(summary)
    assert all(count > 0 for count in summary.compressed.values()), summary.compressed
    assert summary.entered > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", MPIS)
def test_ten_thousand_seeds(name: str) -> None:
    summary = compare(MPIS[name], RANKS, range(ALL_SEEDS), at_once=AT_ONCE)
    is_fine(summary)
    assert min(summary.codecs.values()) >= ALL_SEEDS / len(CONFIGURATIONS)
    rare = summary.rare(0.05)
    wanted = expected(name, summary.features)
    assert {*rare} & wanted <= CORNERS, rare
    assert all(summary.features[feature] > 0 for feature in wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", MPIS)
def test_seeds_on_two_hosts(name: str) -> None:
    """Across hosts MPIs get more wrong by themselves: what is wrong natively is not counted."""
    driver = [sys.executable, str(Path(__file__).parent), "--mpi", name, "--seconds", "40"]
    try:
        with Lab(hosts=2, link="none", ranks_per_host=RANKS // 2) as lab:
            words = [*driver, "--seeds", "30000:30030", "--ranks", str(RANKS)]
            done = lab.run(words, capture_output=True, text=True, timeout=1800)
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    compared = re.search(r"(\d+) seeds, (\d+) differ", done.stdout)
    assert compared is not None, done.stdout + done.stderr
    assert int(compared[1]) >= 15, done.stdout
    assert int(compared[2]) == 0, done.stdout


def kept() -> list[Path]:
    return sorted(KEPT.glob("*.json"))


@pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
def test_what_once_differed(path: Path) -> None:
    found = json.loads(path.read_text())
    if found["mpi"] not in MPIS:
        pytest.skip(f"no {found['mpi']} here")
    seed = found["seed"]
    job = Job(MPIS[found["mpi"]], found["ranks"], found["threads"], configuration(found["codec"]))
    assert not still_differs(job, seed, tuple(found["drop"]))


def test_ranges_of_seeds() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1:4,7,9:11"
