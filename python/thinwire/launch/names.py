"""Which of an MPI's preload libraries shows the calls that the MPI on this machine has.

They differ in the names that they export alone. A program that asks for a call and finds it uses
it: so none may export what the MPI lacks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .elf import exported_names


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
