"""The command and the environment by which every rank of a program gets its preload libraries."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from thinwire import launch
from thinwire.cli.shim import chosen, fail, fit, has_nccl_library, nccl_library, warn
from thinwire.settings import in_force


def launched(
    command: list[str], wanted: dict[str, str], mpi: str | None, *, nccl: bool | None, quiet: bool
) -> tuple[list[str], dict[str, str]]:
    """The command to start in the place of this one, and what to change in its environment, so
    that every rank gets the preload library and the settings."""
    launcher = launcher_of(command)
    if launcher is None:
        return alone(command, wanted, mpi, None, nccl=nccl, quiet=quiet)
    _warn([_unseen(command)], quiet)
    programs = programs_of(command)
    with _refusals_end_it():
        found = preloads_for(command, mpi, programs, launcher, nccl=nccl)
    doubts = list(found.doubts)
    if launcher.style == "unknown":
        doubts.append(
            f"{launcher.title} is of no MPI known here (it says '{launcher.said}'): the preload is "
            "in its environment, which it may not hand to other nodes; `thinwire exec` would"
        )
    _warn(doubts, quiet)
    named = {name: value for name, value in in_force(os.environ).items() if _is_setting(name)}
    everything = preloaded({**named, **wanted}, programs, *found.paths)
    with _refusals_end_it():
        return launch.forward(launcher, command, everything, os.environ)


def alone(
    command: list[str],
    wanted: dict[str, str],
    mpi: str | None,
    launcher: launch.Launcher | None,
    *,
    nccl: bool | None,
    quiet: bool,
) -> tuple[list[str], dict[str, str]]:
    """As `launched`, for a program that no launcher starts here."""
    _warn([_unseen(command)], quiet)
    programs = programs_of(command)
    with _refusals_end_it():
        found = preloads_for(command, mpi, programs, launcher, nccl=nccl)
    _warn(found.doubts, quiet)
    return command, preloaded(wanted, programs, *found.paths)


def launcher_of(command: Sequence[str]) -> launch.Launcher | None:
    """The launcher that a command begins with."""
    if not launch.is_launcher(command[0]):
        return None
    return launch.from_path(shutil.which(command[0]) or command[0])


def programs_of(command: list[str]) -> list[launch.Program | None]:
    """The MPI programs of a command, one for each of its launcher's parts; None for one that shows
    no MPI."""
    if launch.is_launcher(command[0]):
        return [launch.find_program(words) for words in _parts(command[1:])]
    # Python itself, which these launchers are, may have mpi4py without the script's wanting it.
    return [None if launch.is_nccl_launcher(command) else launch.find_program(command)]


def named_in(preload: str | None) -> list[str]:
    """The libraries of an LD_PRELOAD."""
    return [path for path in (preload or "").replace(" ", ":").split(":") if path]


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
    first = [place for place in runtimes if place not in named_in(earlier)]
    return {**wanted, "LD_PRELOAD": ":".join([*first, *everything, *map(str, libraries)])}


@dataclass(frozen=True)
class Preloads:
    """The libraries for a command, the MPI that one of them is for, and what is to be said of the
    choice."""

    paths: list[Path]
    mpi: str | None
    doubts: list[str | None]


def preloads_for(
    command: list[str],
    mpi: str | None,
    programs: list[launch.Program | None],
    launcher: launch.Launcher | None,
    *,
    nccl: bool | None,
) -> Preloads:
    """A program of NCCL gets the library of an MPI too where it, its launcher or the user shows
    one; none that the user has not named is a reason to refuse it. Raises Refused."""
    shown = any(programs) or (launcher is not None and launcher.mpis)
    of_nccl = [nccl_library()] if calls_nccl(command, nccl) else []
    if of_nccl and mpi is None and not shown:
        return Preloads(of_nccl, None, [])
    try:
        choice = chosen(mpi, programs, launcher)
        found = fit(choice.mpi, programs, launcher)
    except launch.Refused as refusal:
        if mpi is not None or not of_nccl:
            hint = "; for a program that calls NCCL alone: --nccl" if nccl is None else ""
            raise launch.Refused(f"{refusal}{hint}") from refusal
        said = f"its calls of MPI stay as they are, not those of NCCL: {refusal}"
        return Preloads(of_nccl, None, [said])
    return Preloads([found.library, *of_nccl], choice.mpi, [choice.doubt, found.doubt])


@contextmanager
def _refusals_end_it() -> Iterator[None]:
    """Says why, and exits, if the command cannot be started so."""
    try:
        yield
    except launch.Refused as refusal:
        fail(str(refusal))


def calls_nccl(command: list[str], said: bool | None) -> bool:
    """What the user says, else what the command shows."""
    if said is not None:
        return said
    if launch.is_nccl_launcher(command) or launch.needs_nccl(command):
        return True
    # This is a guess, for which no program of an MPI is refused.
    return has_nccl_library() and launch.python_with_nccl(command) is not None


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


def _warn(doubts: list[str | None], quiet: bool) -> None:
    for doubt in doubts:
        if doubt is not None and not quiet:
            warn(doubt)
