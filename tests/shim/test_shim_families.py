"""A preload library of another family of MPIs than the program's is as none."""

import itertools
import sys
from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi, libraries, linked_mpi
from shim_runs import Run, mpirun, preloaded, run

pytestmark = pytest.mark.multiproc

FAMILIES = ("openmpi", "mpich", "abi")
CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
PAIRS = [(mpi, family) for mpi in ALL for family in FAMILIES if family != mpi.abi]


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[0].name}-{pair[1]}")
def pair(request: pytest.FixtureRequest) -> tuple[Mpi, Path]:
    mpi, family = request.param
    library = libraries(family)[0]
    if not library.exists():
        pytest.skip(f"no {library.name} in this build")
    return mpi, library


def told_once(done: Run) -> None:
    (line,) = done.thinwire_lines()
    assert "runs as without the library" in line


def alike(done: Run, native: Run) -> None:
    assert (done.code, sorted(done.output.split("\n"))) == (
        native.code,
        sorted(native.output.split("\n")),
    ), done.errors


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_program_runs_as_without_it(pair, binding: str, tmp_path: Path) -> None:
    mpi, library = pair
    settings = {**CODEC, **({"LD_BIND_NOW": "1"} if binding == "now" else {})}
    report = tmp_path / "report.json"
    for ranks, name, *words in ((2, "exchange"), (3, "conformance", "collectives")):
        program = [mpi.programs / f"shim_{name}", *words]
        native = mpirun(ranks, program, mpi=mpi)
        assert native.code == 0
        done = mpirun(ranks, program, library, settings, report, mpi=mpi)
        alike(done, native)
        told_once(done)
        assert done.report is None


def test_calls_that_are_looked_up_are_the_mpis(pair) -> None:
    mpi, library = pair
    program = mpi.programs / "shim_looked_up"
    done = mpirun(2, [program, linked_mpi(program)], library, CODEC, mpi=mpi).all_right(2)
    told_once(done)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("binding", ["now", "lazy"])
def test_modules_that_are_bound_deeply_meet_the_mpi(pair, binding: str, when: str) -> None:
    mpi, library = pair
    module = mpi.programs / "libshim_deep_module.so"
    program = [mpi.programs / "shim_deep_host", module, binding, when]
    told_once(mpirun(2, program, library, CODEC, mpi=mpi).all_right(2))


@pytest.mark.parametrize("family", ["mpich", "abi"])
@pytest.mark.parametrize("module", ["libshim_plugin.so", "libshim_early_constructor.so"])
@pytest.mark.parametrize("binding", [[], ["deep"]], ids=["plain", "deep"])
def test_a_module_brings_the_mpi(family: str, module: str, binding: list[str]) -> None:
    program = [SYSTEM.programs / "shim_plugin_host", SYSTEM.programs / module, *binding]
    done = mpirun(2, program, libraries(family)[0], CODEC)
    assert done.output.count("as it should be") == 2, done.errors
    told_once(done)


MPI4PY = """
import sys
import numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
values = numpy.full(100000, world.rank + 1, "f")
assert (world.allreduce(world.rank), world.rank in (0, 1)) == (1, True)
found = numpy.empty_like(values)
world.Sendrecv(values, 1 - world.rank, recvbuf=found, source=1 - world.rank)
assert (found == 2 - world.rank).all()
print("all right")
"""


@pytest.mark.parametrize("family", ["mpich", "abi"])
def test_mpi4py(family: str) -> None:
    told_once(mpirun(2, [sys.executable, "-c", MPI4PY], libraries(family)[0], CODEC).all_right(2))


@pytest.mark.parametrize("order", list(itertools.permutations(FAMILIES)), ids=":".join)
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_of_several_the_one_that_fits_works(mpi: Mpi, order, tmp_path: Path) -> None:
    named = [mpi.production if family == mpi.abi else libraries(family)[0] for family in order]
    if not all(library.exists() for library in named):
        pytest.skip("not every family in this build")
    program = mpi.programs / "shim_looked_up"
    looked_up: list[str | Path] = [program, linked_mpi(program)]
    report = tmp_path / "report.json"
    words = [*mpi.launcher, "-n", "2", "env", f"LD_PRELOAD={':'.join(map(str, named))}"]
    done = run([*words, *looked_up], CODEC, report).all_right(2)
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] > 0
    assert done.collectives["compressed"] > 0


def test_programs_without_mpi_notice_nothing() -> None:
    for family in FAMILIES:
        done = run(preloaded([sys.executable, "-c", "print('all right')"], libraries(family)[0]))
        assert (done.output, done.errors) == ("all right\n", "")
