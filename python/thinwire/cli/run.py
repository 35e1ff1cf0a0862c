"""`thinwire run` and `thinwire exec`: a program with the preload library."""

import os
import shutil
from collections.abc import Callable
from typing import NoReturn

import typer

from thinwire import launch
from thinwire.cli import values
from thinwire.cli.preload import alone, launched
from thinwire.cli.run_options import (
    ForceOption,
    LinkOption,
    LogOption,
    NcclOption,
    OwnCodecOption,
    PolicyOption,
    ReferencesOption,
    ReportOption,
    SameNodeOption,
    ThresholdOption,
    TraceOption,
    settings,
)
from thinwire.cli.shim import MpiOption
from thinwire.settings import in_force, job_rank, value_of

# Becomes a command under these settings, of this MPI, calling NCCL or not, None for either if it is
# to be found out; the last says whether little is said.
Start = Callable[[list[str], dict[str, str], str | None, bool | None, bool], NoReturn]


def _with_options(start: Start) -> Callable[..., None]:
    """The command that takes these options and starts a program so. Its help is what `start` says
    of itself."""

    def command(
        context: typer.Context,
        codec: OwnCodecOption = None,
        policy: PolicyOption = None,
        threshold: ThresholdOption = None,
        same_node: SameNodeOption = False,
        link: LinkOption = None,
        force: ForceOption = False,
        references: ReferencesOption = None,
        report: ReportOption = None,
        trace: TraceOption = None,
        log: LogOption = None,
        mpi: MpiOption = None,
        nccl: NcclOption = None,
    ) -> None:
        words = command_of(context)
        wanted = settings(
            codec,
            policy,
            threshold,
            same_node,
            link,
            report,
            log,
            trace,
            force=force,
            references=references,
        )
        start(words, wanted, mpi, nccl, _quiet(log))

    command.__doc__ = start.__doc__
    return command


@_with_options
def run(
    command: list[str], wanted: dict[str, str], mpi: str | None, nccl: bool | None, quiet: bool
) -> NoReturn:
    """Run an MPI or NCCL program with compression.

    As in: thinwire run --codec zfp:rate=16 -- mpirun -n 4 ./program

    Starts the launcher so that every rank gets the preload library and these settings. The library
    is the one for the MPI that the program is linked to, or, if that cannot be seen, as with a
    shell script, for the launcher's MPI. A program linked to NCCL, what torchrun, accelerate and
    deepspeed start, and a Python that has NCCL among its packages get the library for NCCL.
    """
    _replace(*launched(command, wanted, mpi, nccl=nccl, quiet=quiet))


@_with_options
def execute(
    command: list[str], wanted: dict[str, str], mpi: str | None, nccl: bool | None, quiet: bool
) -> NoReturn:
    """Run one rank with compression.

    As in: mpirun -n 4 thinwire exec --codec zfp:rate=16 ./program

    For launchers that `thinwire run` does not know. The preload library is chosen as there, by the
    launcher that started the rank.
    """
    launcher = launch.from_environment(os.environ)
    quiet = quiet or job_rank() > 0
    _replace(*alone(command, wanted, mpi, launcher, nccl=nccl, quiet=quiet))


def _quiet(log: values.Level | None) -> bool:
    return (log or value_of("THINWIRE_LOG")) in ("off", "error")


def command_of(context: typer.Context) -> list[str]:
    command = context.args
    if not command:
        typer.echo("thinwire: error: no command given", err=True)
        raise typer.Exit(2)
    if shutil.which(command[0]) is None:
        typer.echo(f"thinwire: error: there is no program {command[0]}", err=True)
        raise typer.Exit(127)
    return list(command)


def _replace(command: list[str], changes: dict[str, str]) -> NoReturn:
    """Become the command, in this environment with changes."""
    os.execvpe(command[0], command, {**in_force(os.environ), **changes})
