"""What starts the ranks: `mpirun` and its kin, and what they leave in a rank's environment."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .program import answer_of

# mpirun.openmpi, mpiexec.hydra, mpirun-mpich-gcc: distributions keep several side by side.
_NAMES = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun)([.-].*)?")


@dataclass(frozen=True)
class Launcher:
    """A launcher on this machine, or the one that this process was started by."""

    title: str  # for messages: its path, or how it was recognised
    mpis: tuple[str, ...]  # whose programs it starts, its own MPI first; empty if unknown
    style: str  # how it hands variables to the ranks, as `forward` knows it
    path: str | None = None
    said: str = ""  # the first line of what it says of itself


# Style, MPIs and the words by which `--version` shows them. PRRTE starts any program that asks a
# PMIx server; Open MPI's own launchers, which are PRRTE too since version 5, name Open MPI.
_VERSIONS = (
    ("open_mpi", ("openmpi", "abi"), ("(Open MPI)", "(OpenRTE)")),
    ("hydra", ("mpich", "abi"), ("HYDRA", "Intel(R) MPI Library")),
    ("prterun", ("openmpi", "mpich", "abi"), ("PRRTE", "PMIx Reference RunTime")),
    ("srun", (), ("slurm",)),
)
_HYDRA_VERSION = re.compile(r"HYDRA build details:\s+Version:\s+(\S+)")
# These need not be asked, or do not answer if their help texts are not installed.
_BY_NAME = {
    "prterun": ("prterun", ("openmpi", "mpich", "abi")),
    "srun": ("srun", ()),
}


def is_launcher(word: str) -> bool:
    """Whether a command's first word is a launcher's name."""
    return _NAMES.fullmatch(Path(word).name) is not None


def from_path(path: str) -> Launcher:
    """The launcher at `path`, by its name or else by what it says of itself."""
    known = _BY_NAME.get(Path(path).name)
    if known is not None:
        return Launcher(path, known[1], known[0], path)
    text = "".join(answer_of(path, "--version"))
    said = next((line.strip() for line in text.splitlines() if line.strip()), "nothing")
    hydra = _HYDRA_VERSION.search(text)
    if hydra is not None:
        said = f"HYDRA {hydra[1]}"
    for style, mpis, marks in _VERSIONS:
        if any(mark in text for mark in marks):
            return Launcher(path, mpis, style, path, said)
    return Launcher(path, (), "unknown", path, said)


def on_path() -> list[Launcher]:
    """What `mpirun` and `mpiexec` are here, in this order."""
    found = filter(None, map(shutil.which, ("mpirun", "mpiexec")))
    return [from_path(path) for path in found]


def from_environment(environment: Mapping[str, str]) -> Launcher | None:
    """What started this process as a rank; None if nothing shows."""
    if "OMPI_COMM_WORLD_RANK" in environment:
        return Launcher("Open MPI's launcher (OMPI_COMM_WORLD_RANK)", ("openmpi", "abi"), "none")
    if "MPI_LOCALNRANKS" in environment:
        return Launcher("MPICH's hydra (MPI_LOCALNRANKS)", ("mpich", "abi"), "none")
    if "SLURM_PROCID" in environment:
        # Slurm serves PMI and PMIx to whatever MPI asks, under the same names.
        return Launcher("srun (SLURM_PROCID)", (), "none")
    if "PMIX_RANK" in environment:
        return Launcher("prterun (PMIX_RANK)", ("openmpi", "mpich", "abi"), "none")
    if "PMI_RANK" in environment:
        return Launcher("a launcher of PMI (PMI_RANK)", ("mpich", "abi"), "none")
    return None


def has_standard_abi(launcher: Launcher) -> bool:
    """Whether the launcher's installation has the library of the standard ABI."""
    if launcher.path is None:
        return False
    prefix = Path(launcher.path).resolve().parent.parent
    patterns = ("lib*/libmpi_abi.so*", "lib/*-linux-*/libmpi_abi.so*")
    return any(True for pattern in patterns for _ in prefix.glob(pattern))
