"""Whether this machine has what a row's command needs."""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from thinwire.bench.programs import BenchError, find_program
from thinwire.bench.samples import DATA_FOLDER
from thinwire.cli.env import namespaces
from thinwire.lab import gpus

_FILE = re.compile(r"@data/(\S+)")
PROGRAMS = ("p2p", "collective", "codec_gpu", "nccl")
WORDS = ("gpus", "lab", "mpi", "tree", *PROGRAMS)


def unmet(needs: Sequence[str], command: str) -> list[str]:
    """Why a command cannot run here; empty if it can."""
    reasons = [reason for need in needs if (reason := _unmet(need))]
    return reasons + list(_missing_files(command))


def _unmet(need: str) -> str | None:
    word, _, count = need.partition(" ")
    if word == "gpus":
        found = len(gpus.visible(os.environ))
        return None if found >= int(count) else f"it takes {count} GPUs, and there are {found}"
    if word == "lab":
        found_lab = namespaces()
        return None if found_lab["can_run"] else f"no lab: {found_lab['namespaces']}"
    if word == "mpi":
        return None if shutil.which("mpirun") else "there is no mpirun on PATH"
    if word == "tree":
        return "it is of the source tree: run it there by hand"
    if word in PROGRAMS:
        try:
            find_program(word, None)
        except BenchError as error:
            return str(error)
        return None
    raise ValueError(f"{need!r} is no need: {', '.join(WORDS)}")


def _missing_files(command: str) -> Iterable[str]:
    wanted = list(dict.fromkeys(_FILE.findall(command)))
    folder = os.environ.get(DATA_FOLDER)
    if wanted and not folder:
        yield f"${DATA_FOLDER} names no folder, of which it takes {', '.join(wanted)}"
        return
    for name in wanted:
        if not (Path(folder or "") / name).is_file():
            yield f"{folder} has no {name}"
