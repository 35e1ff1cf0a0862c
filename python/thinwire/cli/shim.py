"""`thinwire shim`: the preload library of an MPI or for NCCL; its choice for `run` and `exec`."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from thinwire.cli.values import Mpi
from thinwire.launch import (
    Choice,
    Launcher,
    Program,
    Refused,
    best_fit,
    choose,
    mpi_libraries,
    on_path,
)
from thinwire.launch.families import FAMILIES
from thinwire.launch.installation import Fit
from thinwire.launch.launcher import has_standard_abi
from thinwire.library import MPI_SHIMS, NCCL_SHIM, built_shims, library_folder, library_path

MpiOption = Annotated[
    Mpi | None,
    typer.Option(help="Take the preload library for this MPI; found out unless given."),
]


class Kind(StrEnum):
    """The kinds of preload libraries."""

    MPI = "mpi"
    NCCL = "nccl"


def fit(mpi: str, programs: Sequence[Program | None], launcher: Launcher | None) -> Fit:
    """The preload library for a key of MPI_SHIMS whose names the MPI at hand has."""
    built = built_shims()
    has = ", ".join(built) if built else "none: build it with `make build`"
    if mpi not in built:
        missing = library_folder() / MPI_SHIMS[mpi][0]
        said = f"no preload library for {FAMILIES[mpi]}: {missing} does not exist"
        raise Refused(f"{said}; it has: {has}")
    return best_fit(built[mpi], mpi_libraries(mpi, programs, launcher))


def nccl_library() -> Path:
    """The preload library for NCCL programs; exits with the reason if there is none."""
    try:
        return library_path(NCCL_SHIM)
    except FileNotFoundError as error:
        fail(str(error))


def has_nccl_library() -> bool:
    return (library_folder() / NCCL_SHIM).exists()


def chosen(
    asked: str | None, programs: Sequence[Program | None], launcher: Launcher | None
) -> Choice:
    """The MPI that was asked for, else that of the programs and the launcher; if these leave it
    open, that of the `mpirun` on PATH."""
    if asked is not None:
        return Choice(asked)
    clear = any(program is not None and len(program.mpis) <= 1 for program in programs)
    if not clear and (launcher is None or not launcher.mpis):
        launcher = path_launcher()
    return choose(programs, launcher)


def path_launcher() -> Launcher:
    """The launcher that `mpirun` or `mpiexec` on PATH is; raises Refused if these are two MPIs."""
    found = on_path()
    if not found:
        raise Refused(
            "there is no mpirun and no mpiexec on PATH: load an MPI, or name one with --mpi"
        )
    known = [launcher for launcher in found if launcher.mpis]
    if not found[0].mpis:
        raise Refused(
            f"{found[0].path} does not show its MPI, it says '{found[0].said}'; name it with --mpi"
        )
    if len({launcher.mpis[0] for launcher in known}) > 1:
        told = " and ".join(f"{one.path} ({FAMILIES[one.mpis[0]]})" for one in known)
        raise Refused(f"mpirun and mpiexec are of two MPIs: {told}; name one with --mpi")
    return found[0]


def shim(
    kind: Annotated[Kind, typer.Argument(help="What the library is preloaded for.")],
    mpi: MpiOption = None,
) -> None:
    """Print the path of the preload library.

    As in: LD_PRELOAD=$(thinwire shim mpi) ./program

    Without --mpi it is the library for the MPI that `mpirun` belongs to, with the calls that this
    version of the MPI has. For NCCL there is one.
    """
    if kind == Kind.NCCL:
        if mpi is not None:
            fail("--mpi has no meaning for NCCL's library")
        print(nccl_library())
        return
    try:
        print(_for_mpi(mpi))
    except Refused as refusal:
        fail(f"{refusal}; for programs of NCCL: thinwire shim nccl")


def _for_mpi(mpi: str | None) -> Path:
    """The library for this MPI, or for that of PATH."""
    launcher = None
    if mpi is None:
        launcher = path_launcher()
        mpi = launcher.mpis[0]
        if has_standard_abi(launcher):
            told = f"taking {FAMILIES[mpi]}, that of {launcher.path}"
            warn(f"{told}; its standard ABI is --mpi abi")
    found = fit(mpi, [], launcher)
    if found.doubt is not None:
        warn(found.doubt)
    return found.library


def warn(message: str) -> None:
    typer.echo(f"thinwire: warning: {message}", err=True)


def fail(message: str) -> NoReturn:
    typer.echo(f"thinwire: error: {message}", err=True)
    raise typer.Exit(1)
