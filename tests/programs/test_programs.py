"""Real programs, unmodified, natively and under the library: what they compute is the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_packages import unpacked
from program_rows import PROGRAMS
from program_runs import CACHE, Compression, ProgramRun, environment, find_mpis, run_program
from program_table import Place, Program, Results, difference, distance

pytestmark = [pytest.mark.multiproc, pytest.mark.slow]

MPIS = find_mpis()


@dataclass(frozen=True)
class Case:
    program: Program
    mpi: str
    ranks: int

    def __str__(self) -> str:
        return f"{self.program.name}-{self.mpi}-{self.ranks}"


def _cases() -> Iterator[Case]:
    for program in PROGRAMS:
        for mpi in program.mpis:
            for ranks in program.ranks:
                yield Case(program, mpi, ranks)


def _with_codecs() -> Iterator:
    for case in _cases():
        for codec in (*case.program.codecs, *case.program.lossy):
            yield pytest.param(case, codec, id=f"{case}-{codec}")


def _place(case: Case, folder: Path) -> Place:
    if case.mpi not in MPIS:
        pytest.skip(f"no {case.mpi} here")
    if case.mpi in case.program.absent:
        pytest.skip(case.program.absent[case.mpi])
    CACHE.mkdir(parents=True, exist_ok=True)
    debian = case.program.debian
    root = CACHE / case.program.name if debian is None else unpacked(debian)
    root.mkdir(exist_ok=True)
    return Place(root, folder, MPIS[case.mpi], case.ranks)


def _run(program: Program, place: Place, compression: Compression | None) -> ProgramRun:
    words = program.command(place)
    extra = program.environment(place)
    variables = environment(place.mpi, program.libraries(place.root), extra)
    return run_program(place.mpi, place.ranks, words, place.folder, variables, compression)


@pytest.fixture(scope="session")
def natively(tmp_path_factory):
    """By case, what came of it without the library; each case runs once."""
    known: dict[Case, Results | str] = {}

    def results(case: Case) -> Results:
        if case not in known:
            place = _place(case, tmp_path_factory.mktemp("native"))
            run = _run(case.program, place, None)
            worked = run.code == 0
            known[case] = case.program.results(place, run) if worked else _end(run)
        found = known[case]
        if isinstance(found, str):
            pytest.fail(f"it does not run natively: {found}")
        return found

    return results


def _end(run: ProgramRun) -> str:
    how = "not done in time" if run.code is None else f"exit {run.code}"
    return f"{how}: {(run.errors or run.output)[-1500:]}"


@pytest.mark.parametrize(("case", "codec"), list(_with_codecs()))
def test_computes_the_same(case, codec, natively, tmp_path, record_property):
    program, native = case.program, natively(case)
    place = _place(case, tmp_path)
    run = _run(program, place, Compression(codec, program.threshold))
    assert run.code == 0, _end(run)
    assert run.report is not None, run.errors[-2000:]
    record_property("report", run.report)
    ours = program.results(place, run)
    if codec in program.lossy:
        gap = distance(program.numbers(native), program.numbers(ours))
        record_property("distance", gap)
        assert gap <= program.lossy[codec]
    else:
        assert difference(native, ours) is None
    assert run.report["damaged_messages"] == 0
    if program.shrinks is None or codec in program.shrinks:
        assert run.compressed() > 0, run.report
