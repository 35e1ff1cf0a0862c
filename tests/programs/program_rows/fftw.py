"""FFTW over MPI, by a driver: its transposes travel by point to point messages and by Alltoall."""

from collections.abc import Sequence
from pathlib import Path

from building import SOURCES, compile_once
from debian_packages import TRIPLET, Debian
from program_runs import ProgramRun
from program_table import Place, Program, Results, Setting

VERSION = "3.3.10-1"
PACKAGES = Debian(
    folder="fftw",
    packages=(f"libfftw3-mpi3={VERSION}",),
    alone=(f"libfftw3-mpi-dev={VERSION}", f"libfftw3-dev={VERSION}"),
)

LARGE = ("128", str(1 << 19))  # side, length
ROUNDS = 4


def _command(place: Place) -> Sequence[str | Path]:
    usr = place.root / "usr"
    names = ("libfftw3_mpi.so.3", "libfftw3.so.3")
    libraries = [usr / "lib" / TRIPLET / name for name in names]
    options = [f"-I{usr / 'include'}", *libraries, "-Wl,--allow-shlib-undefined", "-lm"]
    program = compile_once(place, "transforms", [SOURCES / "fftw_transforms.c"], options)
    return [program, *((*LARGE, str(ROUNDS * place.large)) if place.large else ())]


def _results(place: Place, run: ProgramRun) -> Results:
    names = [f"rank-{rank}" for rank in range(place.ranks)]
    return {name: (place.folder / name).read_bytes() for name in names}


ROWS = (
    Program(
        name="fftw",
        mpis=("openmpi", "openmpi-5"),
        command=_command,
        results=_results,
        debian=PACKAGES,
        ranks=(2, 3),
        threshold="256",
        setting=Setting(("--codec", "lossless", "--link", "{link}")),
    ),
)
