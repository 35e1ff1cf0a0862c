"""Parts that tests of the lab share: MPIs, the command and its processes, and measured links."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# The MPIs whose launchers the lab's tests start: the system's, and those of THINWIRE_MPIS.

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mpi:
    name: str
    launcher: str
    compiler: str

    @property
    def hands_on_the_environment(self) -> bool:
        """Hydra does, to all hosts; the others leave it on the first."""
        return "mpich" in self.name

    def __str__(self) -> str:
        return self.name


def _mpis() -> list[Mpi]:
    system = [
        Mpi("openmpi", "mpirun.openmpi", "mpicc.openmpi"),
        Mpi("mpich", "mpiexec.mpich", "mpicc.mpich"),
    ]
    named = os.environ.get("THINWIRE_MPIS")
    folders = (
        sorted(path.parent for path in (ROOT / "build" / "mpi").glob("*/.ready"))
        if named is None
        else [Path(name) for name in named.split(":") if name]
    )
    others = [
        Mpi(folder.name, str(folder / "bin" / "mpirun"), str(folder / "bin" / "mpicc"))
        for folder in folders
    ]
    return [mpi for mpi in system + others if shutil.which(mpi.launcher)]


MPIS = _mpis()


# The command under test, and what /proc says about the processes and namespaces of a lab.

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


# The rate that a link carries, as a busy machine lets it be measured.

MOST_MEASUREMENTS = 3


def best_rate(measure: Callable[[], float], least: float) -> float:
    """The highest of up to three measurements, of which the first to reach `least` is the last.

    What others take of the processor is missing in a transfer's rate and is not the link's doing,
    so one that is too low is measured again. No link carries more for it: an upper limit that
    holds for the highest holds for each.
    """
    rates: list[float] = []
    while len(rates) < MOST_MEASUREMENTS and max(rates, default=0.0) < least:
        rates.append(measure())
    return max(rates)
