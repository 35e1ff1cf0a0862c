"""The MPIs whose launchers the lab's tests start: the system's, and those of THINWIRE_MPIS."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

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
