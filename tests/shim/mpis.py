"""The MPIs that the tests run programs under: the one of the build, and those beside it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

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
        return LIBRARIES / f"libthinwire_mpi_{self.abi}.so"

    @property
    def testing(self) -> Path:
        return LIBRARIES / f"libthinwire_mpi_{self.abi}_testing.so"

    def built(self) -> bool:
        return (self.programs / "shim_conformance").exists()


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
