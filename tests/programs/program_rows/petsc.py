"""PETSc: its own example of a nonlinear solve. Its multigrid sends indices in doubles' bits."""

from collections.abc import Sequence
from pathlib import Path

from building import compile_once
from debian_packages import TRIPLET, Debian
from program_runs import ProgramRun
from program_table import Place, Program, Results, Setting

VERSION = "3.18.5+dfsg1-1"
PACKAGES = Debian(
    folder="petsc",
    packages=(f"libpetsc-real3.18={VERSION}",),
    alone=(
        f"libpetsc-real3.18-dev={VERSION}",
        f"libpetsc3.18-dev-common={VERSION}",
        f"libpetsc3.18-dev-examples={VERSION}",
    ),
)
OPTIONS = ("-pc_type", "mg", "-snes_monitor", "-ksp_monitor")
OUTPUT = ("-snes_view_solution", "ascii:u")


def _command(place: Place) -> Sequence[str | Path]:
    usr = place.root / "usr"
    share = usr / "share" / "petsc" / "3.18"
    arch = usr / "lib" / "petscdir" / "petsc3.18" / f"{TRIPLET}-real"
    source = share / "share" / "petsc" / "examples" / "src" / "snes" / "tutorials" / "ex19.c"
    folders = [arch / "include", share / "include", usr / "include"]
    library = usr / "lib" / TRIPLET / "libpetsc_real.so.3.18"
    options = [
        *(f"-I{folder}" for folder in folders),
        library,
        "-Wl,--allow-shlib-undefined",
        "-lm",
    ]
    refined = ("-da_refine", "6" if place.large else "3")
    return [compile_once(place, "ex19", [source], options), *refined, *OPTIONS, *OUTPUT]


def _results(place: Place, run: ProgramRun) -> Results:
    return {"monitor": run.output, "solution": (place.folder / "u").read_text()}


def _solution(results: Results) -> list[float]:
    lines = str(results["solution"]).splitlines()
    return [float(line) for line in lines if line and (line[0].isdigit() or line[0] in "-+.")]


ROWS = (
    Program(
        name="petsc",
        mpis=("openmpi", "openmpi-5"),
        command=_command,
        results=_results,
        debian=PACKAGES,
        ranks=(2, 3),
        threshold="256",
        setting=Setting(("--codec", "lossless", "--link", "{link}", "--threshold", "4KiB")),
        # It takes differences of values over steps of 1e-8: the bound has to be far below that.
        lossy={"szp:rel=1e-12": 1e-3, "zfp:rate=32": 1e-3},
        numbers=_solution,
        absent={"openmpi-5": "Debian's is linked to libmpi_cxx of Open MPI 4, which 5 has not"},
    ),
)
