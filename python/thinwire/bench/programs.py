"""The compiled benchmark programs: where they are, where they run, what they print."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from thinwire import statistics
from thinwire.lab import Lab, environments, gpus, launchers


class BenchError(Exception):
    """A benchmark that could not run; the text is a sentence for the user."""


class RunError(BenchError):
    """One run of a program failed; others may succeed."""


class Place(Protocol):
    """Where a plain `mpirun` puts its ranks one by one at the ends of links."""

    name: str
    hosts: int
    address: str  # of the first host
    same_node: bool  # the shim compresses inside one node only when told to
    burst_bytes: int
    bytes_per_second: float | None  # the link's nominal rate

    def run(self, command: list[str], timeout: float) -> "subprocess.CompletedProcess[str]": ...

    def start(self, command: list[str], stderr: IO[str], scratch: str) -> "subprocess.Popen[str]":
        """The command with its input and output piped to the caller, who owns the process and
        the folder `scratch`, for the files of the launcher: two at once need one each."""
        ...

    def start_rank(
        self, command: list[str], host: int, local: int, of_host: int, **piped: Any
    ) -> "subprocess.Popen[str]":
        """A rank of NCCL on that host, the `local`-th of `of_host` there. The caller owns it."""
        ...

    def drops(self) -> int:
        """Packets lost so far; figures are void if it is not 0."""
        ...

    def raw_rate(self) -> float | None:
        """Bits per second that one connection reaches now; None if no link is shaped."""


@cache
def mpi_is_gpu_aware() -> bool:
    """Whether the Open MPI on PATH takes device pointers by itself; False for any other MPI."""
    try:
        done = subprocess.run(
            ["ompi_info", "--parsable", "--all"], capture_output=True, text=True, check=False
        )
    except OSError:
        return False
    return "mpi_built_with_cuda_support:value:true" in done.stdout


class Loopback:
    """All ranks on this host."""

    name = "loopback"
    hosts = 1
    address = "127.0.0.1"
    same_node = True
    burst_bytes = 0
    bytes_per_second: float | None = None

    def run(self, command: list[str], timeout: float) -> "subprocess.CompletedProcess[str]":
        # A launcher that is killed, as one that takes long to end after an interrupt, leaves files.
        with tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True) as scratch:
            environment = self._environment() | launchers.session_folder(scratch)
            return subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=timeout
            )

    def start(self, command: list[str], stderr: IO[str], scratch: str) -> "subprocess.Popen[str]":
        environment = self._environment() | launchers.session_folder(scratch)
        return subprocess.Popen(command, env=environment, **_piped(stderr))

    def start_rank(
        self, command: list[str], host: int, local: int, of_host: int, **piped: Any
    ) -> "subprocess.Popen[str]":
        found = len(gpus.visible(os.environ))
        # NCCL has no two ranks of one host share a GPU: then each is a host's.
        apart = [f"NCCL_HOSTID=thinwire-{local}", "NCCL_SOCKET_IFNAME=lo", "NCCL_NET=Socket"]
        words = ["env", *(apart if 0 < found < of_host else []), *command]
        return subprocess.Popen(words, env=clean_environment(), text=True, **piped)

    def _environment(self) -> dict[str, str]:
        settings = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
        if os.geteuid() == 0:
            settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return clean_environment() | settings

    def drops(self) -> int:
        return 0

    def raw_rate(self) -> float | None:
        return None


class LabPlace:
    """A lab that is open."""

    same_node = False

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.name = lab.link.text
        self.hosts = lab.hosts
        self.address = lab.addresses()[0]
        self.burst_bytes = lab.link.burst_bytes
        self.bytes_per_second = lab.link.bytes_per_second

    def run(self, command: list[str], timeout: float) -> "subprocess.CompletedProcess[str]":
        return self._lab.run(
            command, env=clean_environment(), capture_output=True, text=True, timeout=timeout
        )

    def start(self, command: list[str], stderr: IO[str], scratch: str) -> "subprocess.Popen[str]":
        own = [f"{name}={value}" for name, value in launchers.session_folder(scratch).items()]
        words = ["env", *own, *command]
        return self._lab.popen(words, env=clean_environment(), **_piped(stderr))

    def start_rank(
        self, command: list[str], host: int, local: int, of_host: int, **piped: Any
    ) -> "subprocess.Popen[str]":
        shared = 0 < len(self._lab.gpus()[host]) < of_host
        of_nccl = environments.of_nccl(self._lab.host_names()[host], local if shared else None)
        words = ["env", *(f"{name}={value}" for name, value in of_nccl.items()), *command]
        return self._lab.popen(words, env=clean_environment(), host=host, text=True, **piped)

    def drops(self) -> int:
        return self._lab.drops()

    def raw_rate(self) -> float | None:
        return self._lab.raw_rate() if self._lab.hosts > 1 else None


def _piped(stderr: IO[str]) -> dict[str, Any]:
    return {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": stderr,
        "text": True,
    }


# Settings that change nothing of a native run and do not say what is compressed.
KEPT = ("THINWIRE_LIBRARY_DIR", "THINWIRE_GPU_WIRE")


def clean_environment() -> dict[str, str]:
    """This process's environment without what would turn a native run into one under the shim."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("THINWIRE_") or name in KEPT
    }
    if "thinwire" in kept.get("LD_PRELOAD", ""):
        del kept["LD_PRELOAD"]
    return kept


def find_program(name: str, given: Path | None) -> Path:
    """`given`, or the release build of the source tree around this package or the current
    folder; BenchError if there is none."""
    roots = [*Path(__file__).resolve().parents, Path.cwd()]
    built = [root / "build" / "release" / "bin" / name for root in roots]
    for candidate in built if given is None else [given]:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate.resolve()
    raise BenchError(f"no {name} program found: build it with `make build`, or pass --program")


def under_shim(
    spec: str, report: Path, options: Sequence[str], command: list[str], *, force: bool = True
) -> list[str]:
    """`command`, a launcher's, under `thinwire run`, with its report written to `report`. Where the
    codec is measured and not the choice, it is forced."""
    thinwire = [sys.executable, "-m", "thinwire", "run", "--codec", spec]
    forced = ["--force"] if force else []
    return [*thinwire, *forced, "--report", str(report), *options, "--", *command]


def run_program(place: Place, command: list[str], timeout: float) -> list[dict[str, Any]]:
    """The JSON lines that a program prints; RunError if it prints none, or hangs, BenchError
    if there is nothing to run it with.

    An exit code other than 0 beside lines means that not all of them verified, and each line
    says so itself.
    """
    try:
        done = place.run(command, timeout)
    except FileNotFoundError as error:
        raise BenchError(f"there is no {error.filename} on PATH") from error
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{' '.join(command)} did not end in {timeout:.0f} s") from error
    lines = result_lines(done.stdout)
    if not lines:
        said = (done.stderr or "no output").strip()[-1500:]
        raise RunError(f"{' '.join(command)} exited {done.returncode}: {said}")
    return lines


def result_lines(said: str) -> list[dict[str, Any]]:
    """The results among the lines that a program has said: objects of JSON, each whole."""
    found = []
    for line in said.splitlines():
        if line.startswith("{"):
            with suppress(ValueError):
                found.append(json.loads(line))
    return found


def read_report(path: Path) -> dict[str, Any]:
    """What the shim wrote; RunError if it wrote nothing, as it was not loaded then, or half."""
    if not path.exists():
        raise RunError("the shim wrote no report: was it loaded on every rank?")
    try:
        return statistics.read_report(path)
    except ValueError as error:
        raise RunError(str(error)) from error
