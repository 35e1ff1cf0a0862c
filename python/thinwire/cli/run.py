"""`thinwire run` and `thinwire exec`: a program with the preload library."""

import os
import shutil
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


def run(
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
    """Run an MPI program with compression.

    As in: thinwire run --codec zfp:rate=16 -- mpirun -n 4 ./program

    Starts the launcher so that every rank gets the preload library and these settings. The library
    is the one for the MPI that the program is linked to, or, if that cannot be seen, as with a
    shell script, for the launcher's MPI. A program linked to NCCL, what torchrun, accelerate and
    deepspeed start, and a Python that has NCCL among its packages get the library for NCCL.
    """
    command = command_of(context)
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
    _replace(*launched(command, wanted, mpi, nccl=nccl, quiet=_quiet(log)))


def execute(
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
    """Run one rank with compression.

    As in: mpirun -n 4 thinwire exec --codec zfp:rate=16 ./program

    For launchers that `thinwire run` does not know. The preload library is chosen as there, by the
    launcher that started the rank.
    """
    command = command_of(context)
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
    launcher = launch.from_environment(os.environ)
    quiet = job_rank() > 0 or _quiet(log)
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
