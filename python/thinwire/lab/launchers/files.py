"""The files that launchers read in a lab: its hosts, and the agent that starts things on them."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from . import hydra, open_mpi

DESCRIPTION = "lab.json"


def write(folder: Path, hosts: Sequence[str], slots: int) -> dict[str, str]:
    """Writes them into the lab's folder; returns the paths by purpose."""
    texts = {
        "hostfile": open_mpi.hostfile(hosts, slots),
        "hydra_hostfile": hydra.hostfile(hosts),
        "agent": _agent(folder),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "agent").chmod(0o700)
    (folder / "scratch").mkdir()
    return {name: str(folder / name) for name in (*texts, "scratch")}


def _agent(folder: Path) -> str:
    """A script that takes the words of ssh, as all launchers give them."""
    program = Path(__file__).parent.with_name("agent.py")
    words = [sys.executable, "-E", "-S", str(program), str(folder / DESCRIPTION)]
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
