"""The MPIs that the tests run programs under: the one of the build, and those beside it."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from thinwire.launch import best_fit
from thinwire.library import MPI_SHIMS

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release"))
LIBRARIES = BUILD / "shim" / "mpi"


@dataclass(frozen=True)
class Mpi:
    name: str
    abi: str  # of its handles: openmpi, mpich or abi
    launcher: tuple[str, ...]
    programs: Path  # where the programs built for it lie

    @property
    def production(self) -> Path:
        return self.library("")

    @property
    def testing(self) -> Path:
        return self.library("_testing")

    @property
    def fake_device(self) -> Path:
        return self.library("_fake_device")

    def library(self, kind: str) -> Path:
        """The one of a kind that `thinwire run` would choose, were all of that kind."""
        built = [path for path in libraries(self.abi, kind) if path.exists()]
        if not built or not self.built():
            return libraries(self.abi, kind)[0]
        return best_fit(built, [linked_mpi(self.programs / "shim_conformance")]).library

    def built(self) -> bool:
        return (self.programs / "shim_conformance").exists()


def libraries(abi: str, kind: str = "") -> list[Path]:
    """What the build makes for a handle ABI: released, or of another kind."""
    return [LIBRARIES / name.replace(".so", f"{kind}.so") for name in MPI_SHIMS[abi]]


@cache
def linked_mpi(program: Path) -> Path:
    """The MPI's library that a program is linked to."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    (path,) = re.findall(r"lib(?:mpi|mpich|mpi_abi)\.so\S* => (\S+)", said)
    return Path(path)


def prefixes() -> list[Path]:
    """THINWIRE_MPIS, else what tools/setup_mpis has made in this tree."""
    named = os.environ.get("THINWIRE_MPIS")
    if named is not None:
        return [Path(name) for name in named.split(":") if name]
    return sorted(path.parent for path in (ROOT / "build" / "mpi").glob("*/.ready"))


def _of_prefix(prefix: Path) -> list[Mpi]:
    launcher = str(prefix / "bin" / "mpirun")
    programs = BUILD / "tests" / "shim"
    if prefix.name.startswith("openmpi"):
        return [Mpi(prefix.name, "openmpi", (launcher, "--oversubscribe"), programs / prefix.name)]
    abi = f"{prefix.name}-abi"
    if prefix.name.startswith("impi"):
        # Its mpirun is a script that looks for the rest by PATH.
        launcher = str(prefix / "bin" / "mpiexec.hydra")
    return [
        Mpi(prefix.name, "mpich", (launcher,), programs / prefix.name),
        Mpi(abi, "abi", (launcher,), programs / abi),
    ]


def _others() -> list[Mpi]:
    found = []
    mpich = shutil.which("mpiexec.mpich")
    if mpich is not None:
        found.append(Mpi("mpich", "mpich", (mpich,), BUILD / "tests" / "shim" / "mpich"))
    for prefix in prefixes():
        found.extend(_of_prefix(prefix))
    return [mpi for mpi in found if mpi.built()]


SYSTEM = Mpi("openmpi", "openmpi", ("mpirun", "--oversubscribe"), BUILD / "tests" / "shim")
OTHERS = _others()
ALL = [SYSTEM, *OTHERS]
