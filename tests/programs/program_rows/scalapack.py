"""ScaLAPACK: its own tests of factorisations, which check each result themselves, and a solve whose
solution is compared to the bit. Rows and columns of blocks travel as vector types."""

from collections.abc import Sequence
from pathlib import Path

from building import SOURCES, compile_once
from debian_packages import TRIPLET, Debian
from program_runs import ProgramRun
from program_table import Place, Program, Results, Setting

PACKAGES = Debian(folder="scalapack", packages=("scalapack-mpi-test=2.2.1-2+b1",))
MPIS = ("openmpi", "openmpi-5", "mpich", "mpich-5")

# Inputs as the tests read them: sizes, blocks, right-hand sides, grids of processes.
LU = """'LU factorization'
'MPI machine'
'LU.out'
6
2
150 121
150 97
1
16
1
9
1
5
{grids}
1.0
T
"""
LLT = """'LLt factorization'
'MPI machine'
'LLT.out'
6
'U'
2
150 121
1
16
1
9
1
5
{grids}
3.0
T
"""
QR = """'Orthogonal factorizations'
'MPI machine'
'QR.out'
6
3
'QR' 'LQ' 'QP'
1
90
121
1
16
7
{grids}
5.0
"""
# Sizes of the solve: order, right-hand sides, block; the second if runs are to be longer.
LARGE = (("1280", "256", "64"), ("2048", "512", "64"))
GRIDS = {2: "2\n1 2\n2 1", 4: "3\n2 1 4\n2 4 1"}


def _command(test: str, name: str, text: str):
    def command(place: Place) -> Sequence[str | Path]:
        (place.folder / f"{name}.dat").write_text(text.format(grids=GRIDS[place.ranks]))
        tests = place.root / "usr" / "lib" / TRIPLET / "scalapack" / f"{place.mpi.family}-tests"
        return [tests / test]

    return command


def _results(place: Place, run: ProgramRun) -> Results:
    """What each case came to, without its times."""
    lines = [line.split() for line in run.output.splitlines()]
    cases = [words for words in lines if words and words[-1] in ("PASSED", "FAILED")]
    assert cases, run.output[-1500:]
    assert all(words[-1] == "PASSED" for words in cases), run.output[-1500:]
    tests = [line for line in run.output.splitlines() if "tests" in line and "=" not in line]
    return {
        "cases": "\n".join(" ".join(words[1:-4] + words[-1:]) for words in cases),
        "tests": "\n".join(tests),
    }


def _solve(place: Place) -> Sequence[str | Path]:
    library = place.root / "usr" / "lib" / TRIPLET / f"libscalapack-{place.mpi.family}.so.2.2"
    options = [library, "-Wl,--allow-shlib-undefined", "-lm"]
    program = compile_once(place, "solve", [SOURCES / "scalapack_solve.c"], options)
    return [program, *(LARGE[place.large > 1] if place.large else ())]


def _solution(place: Place, run: ProgramRun) -> Results:
    names = [f"rank-{rank}" for rank in range(place.ranks)]
    return {name: (place.folder / name).read_bytes() for name in names}


def _row(test: str, name: str, text: str) -> Program:
    return Program(
        name=f"scalapack-{test}",
        mpis=MPIS,
        command=_command(test, name, text),
        results=_results,
        debian=PACKAGES,
        ranks=(2, 4),
        threshold="256",
    )


ROWS = (
    _row("xdlu", "LU", LU),
    _row("xdllt", "LLT", LLT),
    _row("xdqr", "QR", QR),
    Program(
        name="scalapack-solve",
        mpis=MPIS,
        command=_solve,
        results=_solution,
        debian=PACKAGES,
        ranks=(2, 4),
        threshold="256",
        setting=Setting(
            ("--codec", "lossless:reductions=coded", "--link", "{link}", "--threshold", "16KiB")
        ),
    ),
)
