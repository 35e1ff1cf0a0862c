"""`thinwire run` and `thinwire exec`: a program with the preload library."""

import os
import shutil
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from thinwire.cli.shim import mpi_of
from thinwire.codec import Codec
from thinwire.library import MPI_SHIMS, library_path, parse_link_rate, parse_size

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun")

CodecOption = Annotated[
    str,
    typer.Option(
        help="Codec spec, as in zfp:rate=16.",
        metavar="SPEC",
        envvar="THINWIRE_CODEC",
        show_envvar=True,
    ),
]
ThresholdOption = Annotated[
    str | None, typer.Option(help="Messages below this size go raw, as in 64KiB.", metavar="SIZE")
]
SameNodeOption = Annotated[
    bool, typer.Option("--same-node", help="Compress to peers on the same node too.")
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        help="The network's rate, as in 1gbit: a codec that cannot win on it goes raw.",
        metavar="RATE",
    ),
]
ReportOption = Annotated[
    str | None,
    typer.Option(help="Write what was compressed: 1 for standard error, or a JSON file's path."),
]
LogOption = Annotated[
    str | None, typer.Option(help="off, error, warning, info or debug.", metavar="LEVEL")
]


def settings(
    codec: str,
    threshold: str | None,
    same_node: bool,
    link: str | None,
    report: str | None,
    log: str | None,
) -> dict[str, str]:
    """The environment that these options mean; ThinwireError for one that does not parse."""
    found = {"THINWIRE_CODEC": Codec(codec).spec}
    if threshold is not None:
        found["THINWIRE_THRESHOLD"] = str(parse_size(threshold))
    if same_node:
        found["THINWIRE_SAME_NODE"] = "1"
    if link is not None:
        parse_link_rate(link)
        found["THINWIRE_LINK"] = link
    if report is not None:
        found["THINWIRE_REPORT"] = report if report == "1" else str(Path(report).resolve())
    if log is not None:
        found["THINWIRE_LOG"] = log
    return found


def preloaded(wanted: dict[str, str], mpi: str) -> dict[str, str]:
    """The settings and the preload library of that MPI, in front of what is preloaded already."""
    library = str(library_path(MPI_SHIMS[mpi]))
    earlier = os.environ.get("LD_PRELOAD", "")
    return {**wanted, "LD_PRELOAD": f"{library}:{earlier}" if earlier else library}


def forwarded(environment: dict[str, str], wanted: dict[str, str]) -> dict[str, str]:
    """What to change in a launcher's environment for it to hand `wanted` to every rank.

    Open MPI sends the variables of this parameter along; plain ones stay on the first node. The
    launcher itself needs no preload.
    """
    named = {
        name: value
        for name, value in environment.items()
        if name.startswith("THINWIRE_") and name != "THINWIRE_LIBRARY_DIR"
    }
    pairs = [f"{name}={value}" for name, value in {**named, **wanted}.items()]
    earlier = environment.get("OMPI_MCA_mca_base_env_list")
    listed = ";".join([earlier, *pairs] if earlier else pairs)
    own = {name: value for name, value in wanted.items() if name != "LD_PRELOAD"}
    return {**own, "OMPI_MCA_mca_base_env_list": listed}


def run(
    context: typer.Context,
    codec: CodecOption = "auto",
    threshold: ThresholdOption = None,
    same_node: SameNodeOption = False,
    link: LinkOption = None,
    report: ReportOption = None,
    log: LogOption = None,
) -> None:
    """Run an MPI launcher, as in: thinwire run --codec zfp:rate=16 -- mpirun -n 4 ./program"""
    command = _command(context)
    wanted = settings(codec, threshold, same_node, link, report, log)
    if Path(command[0]).name not in LAUNCHERS:
        _replace(command, preloaded(wanted, mpi_of("mpirun")))
    _replace(command, forwarded(dict(os.environ), preloaded(wanted, mpi_of(command[0]))))


def execute(
    context: typer.Context,
    codec: CodecOption = "auto",
    threshold: ThresholdOption = None,
    same_node: SameNodeOption = False,
    link: LinkOption = None,
    report: ReportOption = None,
    log: LogOption = None,
) -> None:
    """Become one rank's program, as in: mpirun -n 4 thinwire exec --codec zfp:rate=16 ./program"""
    command = _command(context)
    wanted = settings(codec, threshold, same_node, link, report, log)
    # Under a launcher its own kind counts, not what comes first on PATH.
    mpi = "openmpi" if "OMPI_COMM_WORLD_RANK" in os.environ else mpi_of("mpirun")
    _replace(command, preloaded(wanted, mpi))


def _command(context: typer.Context) -> list[str]:
    command = context.args[1:] if context.args[:1] == ["--"] else context.args
    if not command:
        typer.echo("thinwire: error: no command given", err=True)
        raise typer.Exit(2)
    if shutil.which(command[0]) is None:
        typer.echo(f"thinwire: error: there is no program {command[0]}", err=True)
        raise typer.Exit(127)
    return list(command)


def _replace(command: list[str], changes: dict[str, str]) -> NoReturn:
    """Become the command, in this environment with changes."""
    os.execvpe(command[0], command, {**os.environ, **changes})
