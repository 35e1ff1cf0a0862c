"""Compiling what packages have as source, and drivers of libraries that have no program."""

import fcntl
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from program_table import Place

SOURCES = Path(__file__).with_name("sources")  # drivers, ours


def compile_once(
    place: Place, name: str, sources: Sequence[Path], options: Sequence[str | Path]
) -> Path:
    """The program, by the compiler of the place's MPI; kept for the next run."""
    words = [place.mpi.compiler, "-O1", "-w", *sources, *options, "-o"]
    return make_once(place, name, sources, words)


def make_once(
    place: Place, name: str, sources: Sequence[Path], words: Sequence[str | Path]
) -> Path:
    """The same by any compiler; its words end before the path of what it makes."""
    program = place.built / name
    with (place.built / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.exists() and all(_is_older(source, program) for source in sources):
            return program
        unfinished = program.with_suffix(".unfinished")
        command = [str(word) for word in (*words, unfinished)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.fail(f"{name} does not build: {done.stderr[-2000:]}")
        unfinished.rename(program)
    return program


def _is_older(source: Path, program: Path) -> bool:
    return source.stat().st_mtime <= program.stat().st_mtime
