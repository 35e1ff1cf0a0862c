"""The command under test, and what /proc says about the processes and namespaces of a lab."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

COMMAND_LINE = [sys.executable, "-c", "from thinwire.cli import main; main()", "lab"]


def processes_of(folder: Path) -> list[int]:
    """The lab processes whose state lies in `folder`; a zombie has no command line and is none."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes()
            if b"lab/start_lab_process.py" in words and bytes(folder) in words:
                found.append(int(entry.name))
    return sorted(found)


def network_namespaces() -> set[int]:
    """The network namespaces in which some process of the machine is."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.add(os.stat(entry / "ns/net").st_ino)
    return found


def becomes_true(condition: Callable[[], object], seconds: float = 5) -> bool:
    """Whether `condition` holds before the time is up."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
