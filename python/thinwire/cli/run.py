"""`thinwire run` and `thinwire exec`: a program with the preload library."""

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from thinwire.cli.shim import mpi_of
from thinwire.codec import Codec
from thinwire.library import MPI_SHIMS, library_path, parse_link_rate, parse_size

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun")

CodecOption = Annotated[str, typer.Option(help="Codec spec, as in zfp:rate=16.", metavar="SPEC")]
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


def with_preload(environment: dict[str, str], library: Path) -> str:
    """LD_PRELOAD with the library in front of what the user preloads already."""
    earlier = environment.get("LD_PRELOAD", "")
    return f"{library}:{earlier}" if earlier else str(library)


def forwarded(environment: dict[str, str], wanted: dict[str, str]) -> dict[str, str]:
    """The launcher's environment: it hands `wanted` to every rank, on every node.

    Open MPI sends the variables of this parameter along; plain ones stay on the first node.
    """
    named = {
        name: value
        for name, value in environment.items()
        if name.startswith("THINWIRE_") and name != "THINWIRE_LIBRARY_DIR"
    }
    pairs = [f"{name}={value}" for name, value in {**named, **wanted}.items()]
    earlier = environment.get("OMPI_MCA_mca_base_env_list")
    listed = ";".join([earlier, *pairs] if earlier else pairs)
    return {**environment, **wanted_without_preload(wanted), "OMPI_MCA_mca_base_env_list": listed}


def wanted_without_preload(wanted: dict[str, str]) -> dict[str, str]:
    """The launcher itself needs no preload."""
    return {name: value for name, value in wanted.items() if name != "LD_PRELOAD"}


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
    environment = dict(os.environ)
    wanted = settings(codec, threshold, same_node, link, report, log)
    is_launcher = Path(command[0]).name in LAUNCHERS
    mpi = mpi_of(command[0]) if is_launcher else mpi_of("mpirun")
    wanted["LD_PRELOAD"] = with_preload(environment, library_path(MPI_SHIMS[mpi]))
    if is_launcher:
        _replace(command, forwarded(environment, wanted))
    _replace(command, {**environment, **wanted})


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
    environment = dict(os.environ)
    wanted = settings(codec, threshold, same_node, link, report, log)
    # Under a launcher its own kind counts, not what comes first on PATH.
    mpi = "openmpi" if "OMPI_COMM_WORLD_RANK" in environment else mpi_of("mpirun")
    wanted["LD_PRELOAD"] = with_preload(environment, library_path(MPI_SHIMS[mpi]))
    _replace(command, {**environment, **wanted})


def _command(context: typer.Context) -> list[str]:
    command = context.args[1:] if context.args[:1] == ["--"] else context.args
    if not command:
        typer.echo("thinwire: error: no command given", err=True)
        raise typer.Exit(2)
    if shutil.which(command[0]) is None:
        typer.echo(f"thinwire: error: there is no program {command[0]}", err=True)
        raise typer.Exit(127)
    return list(command)


def _replace(command: list[str], environment: dict[str, str]) -> None:
    os.execvpe(command[0], command, environment)
