"""Where the library of an MPI lies that a command will load, and which of the preload libraries for
that MPI has the calls that it has."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .elf import exported_names
from .families import family_of
from .launcher import Launcher, on_path
from .program import Program, answer_of

# Below a prefix: the usual places, those of Debian, and Intel MPI's.
_FOLDERS = ("lib*", "lib/*-linux-*", "lib*/release")


def mpi_libraries(
    mpi: str, programs: Sequence[Program | None], launcher: Launcher | None
) -> list[Path]:
    """The libraries of that MPI which the programs load; where these do not show, those of the
    launcher's installation, of that of an `mpirun` on PATH, or the one that the loader knows."""
    shown = (pair for program in programs if program is not None for pair in program.libraries)
    found = [Path(place) for family, place in shown if family == mpi]
    if found:
        return found
    if launcher is not None and mpi in launcher.mpis:
        found = of_launcher(launcher, mpi)
    for other in on_path() if not found else ():
        if not found and mpi in other.mpis:
            found = of_launcher(other, mpi)
    return found or _of_loader(mpi)


def of_launcher(launcher: Launcher, mpi: str) -> list[Path]:
    """Libraries of that MPI in the launcher's installation."""
    if launcher.path is None:
        return []
    prefix = Path(launcher.path).resolve().parent.parent
    folders = (folder for pattern in _FOLDERS for folder in sorted(prefix.glob(pattern)))
    return _of_family(mpi, (file for folder in folders for file in sorted(folder.glob("libmpi*"))))


def _of_loader(mpi: str) -> list[Path]:
    """The first in LD_LIBRARY_PATH, else in the loader's cache."""
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        found = _of_family(mpi, sorted(Path(folder).glob("libmpi*")))
        if found:
            return found[:1]
    said = answer_of("/sbin/ldconfig", "-p")[0]
    places = (line.rpartition(" => ")[2] for line in said.splitlines())
    return _of_family(mpi, map(Path, places))[:1]


def _of_family(mpi: str, files: Iterable[Path]) -> list[Path]:
    return [file for file in files if family_of(file.name) == mpi and file.is_file()]


@dataclass(frozen=True)
class Fit:
    """A preload library; `doubt` says why another could be right."""

    library: Path
    doubt: str | None = None


def best_fit(built: Sequence[Path], mpi_libraries: Sequence[Path]) -> Fit:
    """The one of `built` with the most names of those whose names all of `mpi_libraries` have."""
    takes = {library: calls_of(library) for library in built}
    seen = {library: calls for library in mpi_libraries if (calls := calls_of(library))}
    fewest = min(built, key=lambda library: len(takes[library]))
    if not seen:
        return Fit(fewest, _unseen(mpi_libraries, fewest))
    common = frozenset.intersection(*seen.values())
    fitting = [library for library in built if takes[library] <= common]
    if fitting:
        return Fit(max(fitting, key=lambda library: len(takes[library])))
    lacking = sorted(takes[fewest] - common)
    return Fit(
        fewest,
        f"{next(iter(seen))} lacks {lacking[0]} and {len(lacking) - 1} more of the calls that "
        f"{fewest.name} takes: a program that looks for them would find them",
    )


def calls_of(library: Path) -> frozenset[str]:
    """The MPI_ names that a library exports."""
    return frozenset(name for name in exported_names(library) if name.startswith("MPI_"))


def _unseen(mpi_libraries: Sequence[Path], taken: Path) -> str:
    where = ", ".join(map(str, mpi_libraries))
    shown = f"{where} does not show its calls" if where else "no library of this MPI is found"
    return (
        f"{shown}; taking {taken.name}, for the MPI with the fewest: under one that has more, all "
        "messages go raw"
    )
