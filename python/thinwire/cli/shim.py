"""`thinwire shim`: the preload library of an MPI."""

import shutil
import subprocess
from typing import Annotated

import typer

from thinwire.library import MPI_SHIMS, library_path


def mpi_of(launcher: str) -> str:
    """Which MPI a launcher belongs to, as a key of MPI_SHIMS; exits with the reason otherwise."""
    path = shutil.which(launcher)
    if path is None:
        _fail(f"there is no {launcher} on PATH: load an MPI, or name one with --mpi")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if "Open MPI" in said.stdout or "OpenRTE" in said.stdout or "PRRTE" in said.stdout:
        return "openmpi"
    first = (said.stdout or said.stderr).strip().splitlines()[:1]
    _fail(
        f"{path} is not Open MPI's ({first[0] if first else 'it says nothing'}); "
        "this build has a preload library for Open MPI only"
    )


def shim(
    kind: Annotated[str, typer.Argument(help="mpi")],
    mpi: Annotated[
        str | None, typer.Option(help="Which MPI; else the one that `mpirun` belongs to.")
    ] = None,
) -> None:
    """Print the path of a preload library, as in LD_PRELOAD=$(thinwire shim mpi)."""
    if kind != "mpi":
        _fail(f"no preload library named '{kind}'; this build has: mpi")
    name = mpi or mpi_of("mpirun")
    if name not in MPI_SHIMS:
        _fail(f"no preload library for '{name}'; this build has: {', '.join(MPI_SHIMS)}")
    print(library_path(MPI_SHIMS[name]))


def _fail(message: str) -> None:
    typer.echo(f"thinwire: error: {message}", err=True)
    raise typer.Exit(1)
