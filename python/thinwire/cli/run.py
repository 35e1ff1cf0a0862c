"""`thinwire run` and `thinwire exec`: a program with the preload library."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from thinwire import launch
from thinwire.cli import values
from thinwire.cli.shim import (
    MpiOption,
    chosen,
    fail,
    fit,
    has_nccl_library,
    nccl_library,
    warn,
)
from thinwire.library import parse_size
from thinwire.settings import in_force, job_rank

CodecOption = Annotated[
    str,
    typer.Option(
        help="Codec and its options, as in zfp:rate=16; lossless; auto; or off.",
        metavar="SPEC",
        envvar="THINWIRE_CODEC",
        show_envvar=True,
        callback=values.spec,
        autocompletion=values.complete_spec,
    ),
]
ThresholdOption = Annotated[
    str | None,
    typer.Option(
        help="Do not compress smaller messages, as in 64KiB.", metavar="SIZE", callback=values.size
    ),
]
SameNodeOption = Annotated[
    bool, typer.Option("--same-node", help="Also compress between ranks of one node.")
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        help="The network's rate, as in 1gbit, used until messages have measured it. Without it "
        "the machine is asked.",
        metavar="RATE",
        callback=values.link_rate,
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Compress also where that is predicted not to gain.")
]
ReportOption = Annotated[
    str | None,
    typer.Option(
        help="Report what was compressed, and why the rest was not: 1 for standard error, or a "
        "file for JSON.",
        metavar="1|FILE",
    ),
]
TraceOption = Annotated[
    Path | None,
    typer.Option(
        help="Trace what is sent to whom, over time: each rank writes this path with .rankN after "
        "it, for `thinwire report`.",
        metavar="PATH",
    ),
]
ReferencesOption = Annotated[
    str | None,
    typer.Option(
        help="Of programs that call NCCL: most memory in which a communicator keeps results of "
        "gathers and broadcasts, to code the next ones as differences from them. None otherwise.",
        metavar="SIZE",
        callback=values.size,
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(
        help="A file of rules that name codecs by communicator, operation, type and size.",
        metavar="FILE",
        envvar="THINWIRE_POLICY",
        show_envvar=True,
        callback=values.policy,
    ),
]
NcclOption = Annotated[
    bool | None,
    typer.Option(
        "--nccl/--no-nccl",
        help="Whether the program calls NCCL; found out unless given, which it does not always "
        "show.",
        show_default=False,
    ),
]
LogOption = Annotated[values.Level | None, typer.Option(help="What is logged on standard error.")]


def settings(
    codec: str,
    policy: Path | None,
    threshold: str | None,
    same_node: bool,
    link: str | None,
    report: str | None,
    log: values.Level | None,
    trace: Path | None = None,
    *,
    force: bool = False,
    references: str | None = None,
) -> dict[str, str]:
    """The environment that these options mean."""
    found = {"THINWIRE_CODEC": codec}
    if policy is not None:
        found["THINWIRE_POLICY"] = str(policy.resolve())
    if threshold is not None:
        found["THINWIRE_THRESHOLD"] = str(parse_size(threshold))
    if same_node:
        found["THINWIRE_SAME_NODE"] = "1"
    if link is not None:
        found["THINWIRE_LINK"] = link
    if force:
        found["THINWIRE_FORCE"] = "1"
    if references is not None:
        found["THINWIRE_REFERENCES"] = str(parse_size(references))
    if report is not None:
        found["THINWIRE_REPORT"] = report if report in ("0", "1") else str(Path(report).resolve())
    if trace is not None:
        found["THINWIRE_TRACE"] = str(trace.resolve())
    if log is not None:
        found["THINWIRE_LOG"] = log.value
    return found


def preloaded(
    wanted: dict[str, str], programs: Sequence[launch.Program | None], *libraries: Path
) -> dict[str, str]:
    """The settings and the preload libraries, after what is preloaded already.

    A tool of the profiling interface in front sees the program's calls, and its PMPI_ calls reach
    the library; after it would see none. Sanitizers of the programs insist on being first.
    """
    earlier = os.environ.get("LD_PRELOAD")
    everything = [earlier] if earlier else []
    paths = [program.path for program in programs if program is not None]
    runtimes = dict.fromkeys(place for path in paths for place in launch.sanitizers_of(path))
    first = [
        place for place in runtimes if place not in (earlier or "").replace(" ", ":").split(":")
    ]
    return {**wanted, "LD_PRELOAD": ":".join([*first, *everything, *map(str, libraries)])}


def run(
    context: typer.Context,
    codec: CodecOption = "auto",
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


def launched(
    command: list[str], wanted: dict[str, str], mpi: str | None, *, nccl: bool | None, quiet: bool
) -> tuple[list[str], dict[str, str]]:
    """The command to start in the place of this one, and what to change in its environment, so
    that every rank gets the preload library and the settings."""
    if not launch.is_launcher(command[0]):
        return _alone(command, wanted, mpi, None, nccl=nccl, quiet=quiet)
    _warn([_unseen(command)], quiet)
    launcher = launch.from_path(shutil.which(command[0]) or command[0])
    programs = [launch.find_program(words) for words in _parts(command[1:])]
    libraries, doubts = _libraries(command, mpi, programs, launcher, nccl=nccl)
    if launcher.style == "unknown":
        doubts.append(
            f"{launcher.title} is of no MPI known here (it says '{launcher.said}'): the preload is "
            "in its environment, which it may not hand to other nodes; `thinwire exec` would"
        )
    _warn(doubts, quiet)
    named = {name: value for name, value in in_force(os.environ).items() if _is_setting(name)}
    everything = preloaded({**named, **wanted}, programs, *libraries)
    try:
        return launch.forward(launcher, command, everything, os.environ)
    except launch.Refused as refusal:
        fail(str(refusal))


def execute(
    context: typer.Context,
    codec: CodecOption = "auto",
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
    _replace(*_alone(command, wanted, mpi, launcher, nccl=nccl, quiet=quiet))


def _alone(
    command: list[str],
    wanted: dict[str, str],
    mpi: str | None,
    launcher: launch.Launcher | None,
    *,
    nccl: bool | None,
    quiet: bool,
) -> tuple[list[str], dict[str, str]]:
    """The same for a program that no launcher starts here."""
    _warn([_unseen(command)], quiet)
    # Python itself, which these launchers are, may have mpi4py without the script's wanting it.
    programs = [None if launch.is_nccl_launcher(command) else launch.find_program(command)]
    libraries, doubts = _libraries(command, mpi, programs, launcher, nccl=nccl)
    _warn(doubts, quiet)
    return command, preloaded(wanted, programs, *libraries)


def _calls_nccl(command: list[str], said: bool | None) -> bool:
    """What the user says, else what the command shows."""
    if said is not None:
        return said
    if launch.is_nccl_launcher(command) or launch.needs_nccl(command):
        return True
    # This is a guess, for which no program of an MPI is refused.
    return has_nccl_library() and launch.python_with_nccl(command) is not None


def _libraries(
    command: list[str],
    mpi: str | None,
    programs: list[launch.Program | None],
    launcher: launch.Launcher | None,
    *,
    nccl: bool | None,
) -> tuple[list[Path], list[str | None]]:
    """The preload libraries, and what is to be said of the choice. A program of NCCL gets that of
    an MPI too where it, its launcher or the user shows one; none that the user has not named is a
    reason to refuse it."""
    shown = any(programs) or (launcher is not None and launcher.mpis)
    of_nccl = [nccl_library()] if _calls_nccl(command, nccl) else []
    if of_nccl and mpi is None and not shown:
        return of_nccl, []
    try:
        choice = chosen(mpi, programs, launcher)
        found = fit(choice.mpi, programs, launcher)
    except launch.Refused as refusal:
        if mpi is not None or not of_nccl:
            hint = "; for a program that calls NCCL alone: --nccl" if nccl is None else ""
            fail(f"{refusal}{hint}")
        return of_nccl, [f"its calls of MPI stay as they are, not those of NCCL: {refusal}"]
    return [found.library, *of_nccl], [choice.doubt, found.doubt]


def _unseen(command: list[str]) -> str | None:
    """What is to be said of a program whose calls of NCCL no preload library sees."""
    program = launch.with_nccl_inside(command)
    if program is None:
        return None
    return (
        f"{program} has NCCL linked into it: its calls of NCCL stay as they are, as no preload "
        "library sees them; link it to libnccl.so.2"
    )


def _parts(words: list[str]) -> list[list[str]]:
    """The words of each program of a launcher's command line, which colons separate."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _is_setting(name: str) -> bool:
    """Whether ranks are to have this variable: not where this node has its libraries."""
    return name.startswith("THINWIRE_") and name != "THINWIRE_LIBRARY_DIR"


def _quiet(log: values.Level | None) -> bool:
    return (log or os.environ.get("THINWIRE_LOG")) in ("off", "error")


def _warn(doubts: list[str | None], quiet: bool) -> None:
    for doubt in doubts:
        if doubt is not None and not quiet:
            warn(doubt)


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
