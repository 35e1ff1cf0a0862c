"""The program in a command line, and the MPI that it needs."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .families import FAMILIES, family_of, family_of_file

_PYTHON = re.compile(r"(python|pypy)[\d.]*t?")
_SANITIZER = re.compile(r"lib((hw)?a|t|l)san\.so|libclang_rt\.((hw)?a|t|l)san\b")
# `NAME => PATH (ADDRESS)`, or `NAME => not found`.
_LDD_LINE = re.compile(r"\s*(\S+) => (not found|\S+)")
_FIND_MPI4PY = (
    "import importlib.util\n"
    "spec = importlib.util.find_spec('mpi4py')\n"
    "print(*(spec.submodule_search_locations if spec else ()), sep='\\n')\n"
)
# MPI is not started.
_IMPORT_MPI4PY = (
    "import mpi4py\n"
    "mpi4py.rc(initialize=False, finalize=False)\n"
    "import mpi4py.MPI\n"
    "print(open('/proc/self/maps').read())\n"
)
_PATIENCE_SECONDS = 20


@dataclass(frozen=True)
class Program:
    """A program of a command line that needs an MPI."""

    path: str
    mpis: frozenset[str]  # which it can be of; empty if none of FAMILIES
    evidence: str  # as in "needs libmpi.so.40 (/usr/lib/libmpi.so.40)"
    libraries: tuple[tuple[str, str], ...] = ()  # of each of these MPIs, and where it lies


def find_program(words: Sequence[str]) -> Program | None:
    """The first word that is a program of one MPI, else the first of several; None if no word
    shows any: a shell script, say, or a language that loads its MPI later.

    Options come before the program, so a word counts by what it names, not by its place: scripts
    and tools (`nice`, `gdb --args`) stand between a launcher and the MPI program.
    """
    several = None
    for word in words:
        found = _look_into(word)
        if found is not None and len(found.mpis) <= 1:
            return found
        several = several or found
    return several


def _look_into(word: str) -> Program | None:
    path = None if word.startswith("-") else shutil.which(word)
    if path is None:
        return None
    path = os.path.abspath(path)
    binary = interpreter_of(path)
    if binary is None:
        return None
    found = _needs(binary, path)
    if found is None and is_python(binary):
        return _mpi4py(binary, path)
    return found


def is_python(path: str) -> bool:
    return _PYTHON.fullmatch(Path(path).name) is not None


def interpreter_of(path: str) -> str | None:
    """What runs a script, through `env` and scripts of scripts; a binary itself."""
    for _ in range(4):
        try:
            with open(path, "rb") as file:
                first = file.readline(512)
        except OSError:
            return None
        # A version manager's `python` is a script, which stands for the binary all the same.
        if is_python(path) or not first.startswith(b"#!"):
            return path
        words = first[2:].decode(errors="replace").split()
        if words and Path(words[0]).name == "env":
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        found = shutil.which(words[0]) if words else None
        if found is None:
            return None
        path = found
    return None


def libraries_of(binary: str) -> Iterator[tuple[str, str]]:
    """Name and place of every library that the loader would bring in with `binary`."""
    said = answer_of("ldd", binary)[0]
    for match in filter(None, map(_LDD_LINE.match, said.splitlines())):
        yield Path(match[1]).name, match[2]


def sanitizers_of(path: str) -> tuple[str, ...]:
    """Runtimes of sanitizers that a program is linked to and that refuse to come after another
    library: gcc's, and clang's where they are shared."""
    binary = interpreter_of(path)
    found = libraries_of(binary) if binary is not None else iter(())
    return tuple(place for name, place in found if _SANITIZER.match(name) and place != "not found")


def _needs(binary: str, path: str) -> Program | None:
    """`path` as a program of the MPIs that `binary` is linked to; None if there are none."""
    found = {name: place for name, place in libraries_of(binary) if family_of(name) is not None}
    if not found:
        return None
    listed = " and ".join(f"{name} ({place})" for name, place in found.items())
    mpis = frozenset(filter(None, map(family_of, found)))
    there = ((family_of(name), place) for name, place in found.items() if place != "not found")
    libraries = tuple((family, place) for family, place in there if family)
    return Program(path, mpis, f"needs {listed}", libraries)


def _mpi4py(python: str, path: str) -> Program | None:
    """By the extension that mpi4py loads; its wheels have several, and choose when imported."""
    folders = answer_of(python, "-c", _FIND_MPI4PY)[0].splitlines()
    extensions = [file for folder in folders for file in sorted(Path(folder).glob("MPI*.so"))]
    found = list(filter(None, (_needs(str(file), path) for file in extensions)))
    if not found:
        return None
    mpis = frozenset().union(*(program.mpis for program in found))
    libraries = _loaded_by_mpi4py(python) or sum((program.libraries for program in found), ())
    # mpi4py's own setting, in the spellings that it takes.
    said = os.environ.get("MPI4PY_MPIABI", "").translate({ord(c): None for c in " -_"}).lower()
    asked = {"impi": "mpich", "mpiabi": "abi"}.get(said, said)
    if asked in FAMILIES:
        evidence = f"has mpi4py, and MPI4PY_MPIABI is {said}"
        return Program(path, frozenset({asked}), evidence, libraries)
    if len(found) == 1:
        return Program(path, mpis, f"has mpi4py, which {found[0].evidence}", libraries)
    return Program(path, mpis, "has mpi4py, which takes any of several MPIs", libraries)


def _loaded_by_mpi4py(python: str) -> tuple[tuple[str, str], ...]:
    """What mpi4py takes when it is imported: its wheels look in places of their own first."""
    mapped = set(answer_of(python, "-c", _IMPORT_MPI4PY)[0].split())
    families = ((family_of_file(place), place) for place in sorted(mapped))
    return tuple((family, place) for family, place in families if family)


def answer_of(*command: str) -> tuple[str, str]:
    """What a command prints on standard output and on standard error; nothing where it is not
    there or does not answer."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    return done.stdout, done.stderr
