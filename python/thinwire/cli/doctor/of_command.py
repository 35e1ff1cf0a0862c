"""What `thinwire run` would do with a command, and whether it can work on this node."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from thinwire import launch
from thinwire.cli.preload import calls_nccl, launcher_of, named_in, preloads_for, programs_of
from thinwire.cli.shim import has_nccl_library
from thinwire.launch.elf import loader_of
from thinwire.launch.families import FAMILIES, names
from thinwire.launch.program import answer_of, interpreter_of

from .finding import Finding, note, ok, wrong

INSIDE = "the library has to be preloaded into a program that the system's loader starts"


def look_at_command(words: Sequence[str]) -> Iterator[Finding]:
    """Of a command line as one types it, its launcher first."""
    command = list(words)
    if shutil.which(command[0]) is None:
        there = Path(command[0]).exists()
        yield wrong(
            "command",
            f"{command[0]} {'may not be executed' if there else 'is not found'}",
            f"chmod +x {command[0]}" if there else "give its path, or load its module",
        )
        return
    own = launcher_of(command)
    launcher = own or launch.from_environment(os.environ)
    yield from _said_of_launcher(command, launcher)
    for word in command[1:] if own is not None else command:
        yield from _file(word)
    yield from _libraries(command, launcher)


def _said_of_launcher(
    command: Sequence[str], launcher: launch.Launcher | None
) -> Iterator[Finding]:
    if launcher is None:
        if not launch.is_nccl_launcher(command):
            yield note("launcher", "none: a single process sends nothing", "mpirun -n 2 ...")
        return
    if launcher.style == "unknown":
        yield wrong(
            "launcher",
            f"{launcher.title} is not known: it says '{launcher.said}'",
            "let each rank start itself: put `thinwire exec` before the program",
        )
        return
    of = names(launcher.mpis)
    yield ok("launcher", f"{launcher.title}{f', of {of}' if of else ''}")
    if launcher.style == "srun":
        yield from _srun(command)


def _srun(command: Sequence[str]) -> Iterator[Finding]:
    asked = next((word.partition("=")[2] for word in command if word.startswith("--mpi=")), "")
    served = asked or os.environ.get("SLURM_MPI_TYPE", "") or _default_of_slurm()
    if served in ("", "none"):
        yield wrong(
            "srun",
            "starts ranks that learn nothing of each other (--mpi=none)",
            "srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH and Intel MPI",
        )
    else:
        yield ok("srun", f"--mpi={served}")


def _default_of_slurm() -> str:
    for line in answer_of("scontrol", "show", "config")[0].splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "MpiDefault":
            return value.strip()
    return ""


def _file(word: str) -> Iterator[Finding]:
    """What is not there, and programs into which nothing can be preloaded."""
    if word.startswith(("./", "../", "/")) and not Path(word).exists():
        yield wrong(
            "program", f"{word} does not exist here", "give the path of a file on this node"
        )
    path = None if word.startswith("-") else shutil.which(word)
    binary = interpreter_of(os.path.abspath(path)) if path is not None else None
    if binary is None:
        return
    mode = os.stat(binary).st_mode
    if mode & (stat.S_ISUID | stat.S_ISGID) or "security.capability" in os.listxattr(binary):
        yield wrong(
            "program",
            f"{binary} runs with rights of its own: the loader leaves preloaded libraries out",
            "take a copy without them: cp --no-preserve=all",
        )
    loader = loader_of(binary)
    if loader == "":
        yield wrong("program", f"{binary} is linked statically", f"link it dynamically: {INSIDE}")
    elif loader is not None and "musl" in loader:
        yield wrong("program", f"{binary} is of musl ({loader})", f"build it on glibc: {INSIDE}")
    inside = launch.with_nccl_inside([word])
    if inside is not None:
        yield wrong("NCCL", f"{inside} has NCCL linked into it", "link it to libnccl.so.2")


def _libraries(command: list[str], launcher: launch.Launcher | None) -> Iterator[Finding]:
    lacks_nccl = calls_nccl(command, None) and not has_nccl_library()
    if lacks_nccl:
        yield wrong("NCCL", "this installation has no library for it", "pip install thinwire-cu13")
    programs = programs_of(command)
    try:
        found = preloads_for(command, None, programs, launcher, nccl=False if lacks_nccl else None)
    except launch.Refused as refusal:
        yield wrong("MPI", str(refusal), "thinwire run --mpi ..., or mend what it names")
        return
    if found.mpi is not None:
        shown = [f"{program.path} {program.evidence}" for program in programs if program]
        yield ok("MPI", ": ".join([FAMILIES[found.mpi], *shown[:1]]))
        yield from _preloaded_for_another(found.mpi)
    yield from (note("MPI", doubt) for doubt in found.doubts if doubt)
    for library in found.paths:
        yield _in_child(library)


def _preloaded_for_another(mpi: str) -> Iterator[Finding]:
    for path in named_in(os.environ.get("LD_PRELOAD")):
        name = Path(path).name
        if name.startswith("libthinwire_mpi_") and not name.startswith(f"libthinwire_mpi_{mpi}"):
            yield wrong(
                "LD_PRELOAD", f"{path} is for another MPI: it ends the program", "unset LD_PRELOAD"
            )


def _in_child(library: Path) -> Finding:
    """Whether a process that is started with it has it."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", "print(open('/proc/self/maps').read())"],
        env={**os.environ, "LD_PRELOAD": str(library), "THINWIRE_LOG": "off"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if library.resolve().name in done.stdout or library.name in done.stdout:
        return ok("preload", f"{library} is in force in a child")
    why = done.stderr.strip().splitlines()
    return wrong(
        "preload",
        f"{library} is not in force in a child{f': {why[0]}' if why else ''}",
        "pip install --force-reinstall thinwire, of this machine's kind",
    )
