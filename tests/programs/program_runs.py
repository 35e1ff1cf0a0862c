"""One run of a program, natively or under the library, and the MPIs that it runs under."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from thinwire.library import MPI_SHIMS, library_path

# The MPIs that foreign programs run under, by the names that rows give them.

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "programs"


@dataclass(frozen=True)
class ProgramMpi:
    name: str  # openmpi and mpich are the system's; openmpi-5, mpich-5 and intel of THINWIRE_MPIS
    launcher: tuple[str, ...]
    compiler: str
    libraries: tuple[Path, ...] = ()  # before the system's

    @property
    def family(self) -> str:
        return "mpich" if self.name == "intel" else self.name.removesuffix("-5")


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
    if prefix.name.startswith("impi"):
        # Its mpirun is a script that looks for the rest by PATH.
        words = (str(prefix / "bin" / "mpiexec.hydra"),)
        fabric = prefix / "opt" / "mpi" / "libfabric" / "lib"
        return ProgramMpi("intel", words, compiler, (prefix / "lib", fabric))
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


# One run of a program: natively, or under the library with a codec.

TIMEOUT = 600  # seconds; the programs take a few on a machine of their own

# Reductions change the order of a sum: without them a lossless codec changes no bit.
DATA_MOVEMENT = "bcast,allgather,allgatherv,gather,scatter,alltoall"

# The codec of tests, lossless for any data and always smaller (tests/README.md); libraries with it
# are in the build alone. It decodes a message once, so no collective may give one to several ranks.
SHRINK = "shrink"
DECODED_ONCE = "alltoall"


@dataclass(frozen=True)
class Compression:
    codec: str
    threshold: str
    collectives: str = DATA_MOVEMENT  # "on": the library's default


# The library as it is without a setting.
UNSET = Compression("", "")


@dataclass
class ProgramRun:
    code: int | None  # None: it did not end in time
    output: str
    errors: str
    report: dict | None  # of the library

    def compressed(self) -> int:
        """Messages and collectives."""
        assert self.report is not None
        return self.report["compressed_messages"] + self.report["collectives"]["compressed"]


def environment(
    mpi: ProgramMpi, folders: Sequence[Path], extra: Mapping[str, str]
) -> dict[str, str]:
    """This process' environment without settings of MPIs and of Thinwire, and what a run needs."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if name == "THINWIRE_LIBRARY_DIR"
        or not name.startswith(
            ("THINWIRE_", "OMPI_", "PMIX_", "PMI_", "PRTE_", "I_MPI_", "LD_PRELOAD")
        )
    }
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # Machines for tests have few cores and other work: a rank that waits lets others run.
    shared = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1", "I_MPI_PIN": "0"}
    # With epoll, Open MPI 4.1's launcher does not hear every process that is spawned: natively too
    # (docs/results/conformance.md). That of Open MPI 5 has nothing but epoll.
    heard = {"EVENT_NOEPOLL": "1"} if mpi.name == "openmpi" else {}
    path = ":".join(str(folder) for folder in (*mpi.libraries, *folders))
    return {**clean, **allow, **shared, **heard, "LD_LIBRARY_PATH": path, **extra}


def run_program(
    mpi: ProgramMpi,
    ranks: int,
    words: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
    compression: Compression | None = None,
    seconds: float = TIMEOUT,
) -> ProgramRun:
    """Runs it in `folder`, as a user would: by `thinwire run` where it is compressed."""
    report = folder / "thinwire-report.json"
    launcher, program = [*mpi.launcher, "-n", str(ranks)], [str(word) for word in words]
    command = [*launcher, *program]
    variables = dict(environment)
    if compression == UNSET:
        command = [sys.executable, "-m", "thinwire", "run", "--report", str(report), "--", *command]
    elif compression is not None:
        codec = compression.codec
        variables["THINWIRE_COLLECTIVES"] = compression.collectives
        options = ["--threshold", compression.threshold, "--same-node", "--force"]
        options += ["--report", str(report)]
        if codec == SHRINK:  # which `thinwire run` does not know: the ranks are told by themselves
            codec = "mpc"
            command = [*launcher, "env", f"THINWIRE_CODEC={SHRINK}", *program]
            variables["THINWIRE_LIBRARY_DIR"] = str(_testing_libraries())
            variables["THINWIRE_COLLECTIVES"] = DECODED_ONCE
        options += ["--codec", codec]
        command = [sys.executable, "-m", "thinwire", "run", *options, "--", *command]
    code, output, errors = call(command, folder, variables, seconds)
    return ProgramRun(code, output, errors, read_report(report))


def _testing_libraries() -> Path:
    """A folder like an installation's; its preload libraries are those with the codec of tests."""
    folder = CACHE / "testing" / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    build = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release"))
    core = library_path("libthinwire.so.0")
    wanted = {core.name: core}
    for name in (name for names in MPI_SHIMS.values() for name in names):
        wanted[name] = build / "shim" / "mpi" / name.replace(".so", "_testing.so")
    for name, library in wanted.items():
        link = folder / name
        if library.exists() and not (link.is_symlink() and link.readlink() == library):
            link.unlink(missing_ok=True)
            link.symlink_to(library)
    return folder


def call(
    words: Sequence[str], folder: Path, variables: dict[str, str], seconds: float
) -> tuple[int | None, str, str]:
    names = ("output.txt", "errors.txt")
    with (folder / names[0]).open("w") as output, (folder / names[1]).open("w") as errors:
        started = subprocess.Popen(words, cwd=folder, env=variables, stdout=output, stderr=errors)
        try:
            code = started.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _stop(started)
    out, err = ((folder / name).read_text(errors="replace") for name in names)
    return code, out, err


def _stop(started: "subprocess.Popen[bytes]") -> None:
    if started.poll() is not None:
        return
    started.terminate()  # the launcher takes its ranks with it
    try:
        started.wait(10)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()


def read_report(report: Path) -> dict | None:
    return json.loads(report.read_text()) if report.exists() else None
