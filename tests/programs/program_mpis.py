"""The MPIs that foreign programs run under, by the names that rows give them."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "programs"


@dataclass(frozen=True)
class ProgramMpi:
    name: str  # openmpi and mpich are the system's; openmpi-5 and mpich-5 of THINWIRE_MPIS
    launcher: tuple[str, ...]
    compiler: str
    libraries: tuple[Path, ...] = ()  # before the system's

    @property
    def family(self) -> str:
        return self.name.removesuffix("-5")


def _prefixes() -> list[Path]:
    """THINWIRE_MPIS, else what tools/setup_mpis has made in this tree."""
    named = os.environ.get("THINWIRE_MPIS")
    if named is not None:
        return [Path(name) for name in named.split(":") if name]
    return sorted(path.parent for path in (ROOT / "build" / "mpi").glob("*/.ready"))


def _system() -> list[ProgramMpi]:
    found = []
    if shutil.which("mpirun.openmpi") and shutil.which("mpicc.openmpi"):
        words = (shutil.which("mpirun.openmpi"), "--oversubscribe")
        found.append(ProgramMpi("openmpi", words, shutil.which("mpicc.openmpi")))
    if shutil.which("mpiexec.mpich") and shutil.which("mpicc.mpich"):
        words = (shutil.which("mpiexec.mpich"),)
        found.append(ProgramMpi("mpich", words, shutil.which("mpicc.mpich")))
    return found


def _of_prefix(prefix: Path) -> ProgramMpi:
    launcher, compiler = str(prefix / "bin" / "mpirun"), str(prefix / "bin" / "mpicc")
    if prefix.name.startswith("openmpi"):
        words = (launcher, "--oversubscribe")
        return ProgramMpi("openmpi-5", words, compiler, (prefix / "lib",))
    # Debian gives MPICH's library a name of its own; its programs find this MPICH under that.
    debian = CACHE / "mpich-5-as-debian"
    debian.mkdir(parents=True, exist_ok=True)
    link, target = debian / "libmpich.so.12", prefix / "lib" / "libmpi.so.12"
    if not link.is_symlink() or link.readlink() != target:
        # Several processes of one run come here at once.
        made = debian / f"made-by-{os.getpid()}"
        made.unlink(missing_ok=True)
        made.symlink_to(target)
        made.replace(link)
    return ProgramMpi(
        "mpich-5", (launcher,), compiler, (debian, prefix / "lib", prefix / "lib" / "mpich")
    )


def find_mpis() -> dict[str, ProgramMpi]:
    found = [*_system(), *(_of_prefix(prefix) for prefix in _prefixes())]
    return {mpi.name: mpi for mpi in found}
