"""Which MPI a command is of: the word of its programs first, then that of its launcher."""

from collections.abc import Sequence
from dataclasses import dataclass

from .families import FAMILIES, names
from .launcher import Launcher, has_standard_abi
from .program import Program

WAY_OUT = "name the MPI with --mpi " + "|".join(FAMILIES)


class Refused(Exception):
    """A command for which no library, or no single one, is right."""


@dataclass(frozen=True)
class Choice:
    mpi: str  # a key of FAMILIES
    doubt: str | None = None  # why another could have been meant


def choose(programs: Sequence[Program | None], launcher: Launcher | None) -> Choice:
    """One MPI for all programs of a command; None among them is one that shows no MPI."""
    seen = [program for program in programs if program is not None]
    for program in seen:
        _check(program, launcher)
    served = launcher.mpis if launcher is not None and launcher.mpis else tuple(FAMILIES)
    common = [mpi for mpi in served if all(mpi in program.mpis for program in seen)]
    if not common:
        raise Refused(
            "two MPIs in one command: "
            + "; ".join(f"{program.path} {program.evidence}" for program in seen)
            + "; let each rank choose: put `thinwire exec` before each program instead"
        )
    if not seen:
        return _by_launcher(launcher)
    mpi = common[0]
    if len(common) > 1:
        return Choice(mpi, _several(seen, common, launcher))
    if len(seen) < len(programs):
        shown = seen[0]
        return Choice(mpi, f"not every program shows its MPI; taking that of {shown.path}")
    if mpi == "abi" and launcher is not None and launcher.mpis[:1] == ("openmpi",):
        return Choice(mpi, _foreign_standard_abi(seen[0], launcher))
    return Choice(mpi)


def _check(program: Program, launcher: Launcher | None) -> None:
    """Refuses a program that has no library here, or whose MPI the launcher does not start."""
    if not program.mpis:
        raise Refused(
            f"{program.path} {program.evidence}, an MPI that Thinwire has no preload library for; "
            f"where its ABI is one of theirs, {WAY_OUT}"
        )
    if launcher is None or not launcher.mpis or program.mpis & set(launcher.mpis):
        return
    raise Refused(
        f"{program.path} {program.evidence}: it is of {names(program.mpis)}, but {launcher.title} "
        f"belongs to {FAMILIES[launcher.mpis[0]]}; start it with its own MPI's launcher, "
        f"or {WAY_OUT}"
    )


def _by_launcher(launcher: Launcher | None) -> Choice:
    """Where no program shows its MPI."""
    if launcher is None or not launcher.mpis:
        who = "and no launcher" if launcher is None else f"nor does {launcher.title}"
        raise Refused(f"no word of the command shows which MPI it is of, {who}; {WAY_OUT}")
    mpi = launcher.mpis[0]
    doubt = (
        f"no word of the command shows which MPI it is of; taking {FAMILIES[mpi]}, "
        f"that of {launcher.title}"
    )
    if has_standard_abi(launcher) or (mpi == "mpich" and launcher.path is None):
        doubt += "; for a program of the standard ABI (libmpi_abi.so), --mpi abi"
    return Choice(mpi, doubt)


def _several(seen: Sequence[Program], common: Sequence[str], launcher: Launcher | None) -> str:
    """What is to be said of a command that fits several MPIs; refused where no launcher decides."""
    shown = next((program for program in seen if len(program.mpis) > 1), seen[0])
    if launcher is None or not launcher.mpis:
        raise Refused(f"{shown.path} {shown.evidence}: {names(common)}; {WAY_OUT}")
    return (
        f"{shown.path} {shown.evidence}: {names(common)}; taking {FAMILIES[common[0]]}, "
        f"that of {launcher.title} (else --mpi)"
    )


def _foreign_standard_abi(program: Program, launcher: Launcher) -> str | None:
    """Open MPI up to version 5 has no such library, so the program's is another MPI's."""
    if launcher.path is None or has_standard_abi(launcher):
        return None
    return (
        f"{program.path} {program.evidence}, which is not of the MPI of {launcher.title}: "
        "its ranks may not find each other"
    )
