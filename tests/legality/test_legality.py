"""Random legal programs come to the same with and without the library; their features are many."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from legality_compare import KEPT, Summary, compare, still_differs
from legality_configurations import CONFIGURATIONS, KNOWN, configuration_of, wants_threads
from legality_jobs import MPIS, Job, feature_names, program_of, ranges, run_seeds

pytestmark = pytest.mark.multiproc

SECONDS = 180  # for all MPIs together
BATCH = 2 * len(CONFIGURATIONS)  # each codec with threads and without
ALL_SEEDS = 10_000
# An MPI may lack them: persistent collectives came with MPI 4.
OPTIONAL = {"persistent_collective"}


def is_fine(summary: Summary) -> None:
    assert summary.differences == []
    assert summary.unfit == {}


@pytest.mark.parametrize("name", MPIS)
def test_programs_of_this_build(name: str) -> None:
    assert program_of(MPIS[name]).exists(), "run `make build`"
    assert len(feature_names(MPIS[name])) > 80


@pytest.mark.parametrize("name", MPIS)
def test_a_seed_is_one_program(name: str) -> None:
    """The generator's own test: natively the same seeds come to the same twice."""
    job = Job(MPIS[name], ranks=4, threads=True)
    first, second = run_seeds(job, range(20)), run_seeds(job, range(20))
    assert first.said == second.said == {}
    assert first.lines == second.lines
    assert len({line.all for line in first.lines.values()}) == 20


def test_what_is_dropped_changes_nothing_else() -> None:
    job = Job(MPIS["openmpi"], ranks=4, threads=False)
    whole = run_seeds(job, [3]).lines[3].phases
    part = run_seeds(replace(job, drop=("0",)), [3]).lines[3].phases
    assert part[0] != whole[0]
    assert part[1:] == whole[1:]


@pytest.mark.slow
@pytest.mark.parametrize("name", MPIS)
def test_three_minutes_of_seeds(name: str) -> None:
    began = time.monotonic()
    summary = Summary()
    # Other seeds a MPI: they are few.
    start = 20_000 + 10_000 * list(MPIS).index(name)
    while time.monotonic() - began < SECONDS / len(MPIS):
        summary.add(compare(MPIS[name], 4, range(start, start + BATCH)))
        start += BATCH
    is_fine(summary)
    assert set(summary.compressed) == {each.codec for each in CONFIGURATIONS}
    assert all(count > 0 for count in summary.compressed.values()), summary.compressed
    assert summary.entered > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", MPIS)
def test_ten_thousand_seeds(name: str) -> None:
    summary = compare(MPIS[name], 4, range(ALL_SEEDS))
    is_fine(summary)
    assert min(summary.codecs.values()) >= ALL_SEEDS / len(CONFIGURATIONS)
    rare = set(summary.rare(0.05)) - set(KNOWN) - OPTIONAL
    assert rare == set(), summary.rare(0.05)


def kept() -> list[Path]:
    return sorted(KEPT.glob("*.json"))


@pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
def test_what_once_differed(path: Path) -> None:
    found = json.loads(path.read_text())
    if found["mpi"] not in MPIS:
        pytest.skip(f"no {found['mpi']} here")
    seed = found["seed"]
    job = Job(MPIS[found["mpi"]], found["ranks"], wants_threads(seed), configuration_of(seed))
    assert not still_differs(job, seed, tuple(found["drop"]))


def test_ranges_of_seeds() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1:4,7,9:11"
