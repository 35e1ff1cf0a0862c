"""Jobs of NCCL without a launcher: a process a rank, on this host or those of a lab."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinwire.bench.programs import Place, result_lines
from thinwire.lab import environments

SONAME = "libnccl.so.2"
# Below a folder of Python packages, of the wheels that PyTorch and CuPy bring in.
_WHEEL = Path("nvidia", "nccl", "lib", SONAME)
# Time that the other ranks get to end by themselves, once one has failed.
_GRACE_SECONDS = 10.0


def find_nccl(given: Path | None) -> str:
    """The libnccl to measure: `given`, that of this Python's packages or of those of the `python3`
    on PATH, else the name by which the loader looks for one."""
    if given is not None:
        return str(given.resolve())
    for folder in (*sys.path, *_folders_of("python3")):
        if folder and (Path(folder) / _WHEEL).is_file():
            return str(Path(folder) / _WHEEL)
    return SONAME


def _folders_of(python: str) -> list[str]:
    if shutil.which(python) is None:
        return []
    words = [python, "-c", "import sys; print(*sys.path, sep='\\n')"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.splitlines()


@dataclass(frozen=True)
class Said:
    """The JSON lines that rank 0 has printed, and why there may be too few; whether ranks hung."""

    lines: list[dict[str, Any]]
    error: str
    hung: bool


def run_ranks(
    place: Place, command: list[str], ranks: int, settings: dict[str, str], timeout: float
) -> Said:
    """Rank r is on host r modulo their number."""
    hosts = min(place.hosts, ranks)
    port = environments.PORT if place.hosts > 1 else _free_port()
    with tempfile.TemporaryDirectory(prefix="thinwire-ranks-") as folder:
        outputs = [Path(folder, f"{rank}") for rank in range(ranks)]
        started = []
        try:
            for rank, output in enumerate(outputs):
                own = {
                    **settings,
                    "RANK": str(rank),
                    "WORLD_SIZE": str(ranks),
                    "LOCAL_RANK": str(rank // hosts),
                    "MASTER_ADDR": place.address,
                    "MASTER_PORT": str(port),
                }
                words = ["env", *(f"{name}={value}" for name, value in own.items()), *command]
                of_host = len(range(rank % hosts, ranks, hosts))
                with output.open("w") as out, output.with_suffix(".err").open("w") as err:
                    started.append(
                        place.start_rank(
                            words, rank % hosts, rank // hosts, of_host, stdout=out, stderr=err
                        )
                    )
            hung = _hangs(started, timeout)
        finally:
            _end(started)
        said = outputs[0].read_text()
        errors = [output.with_suffix(".err").read_text().strip() for output in outputs]
    lines = result_lines(said)
    codes = ", ".join(str(process.returncode) for process in started)
    error = f"{command[0]} exited {codes}: {_first_cause(errors)[-1500:]}"
    return Said(lines, f"it did not end in {timeout:.0f} s" if hung else error, hung)


def exit_codes(started: "Sequence[subprocess.Popen[Any]]", seconds: float) -> list[int]:
    """Of processes that have so long together. subprocess.TimeoutExpired: some had not ended; they
    are killed."""
    deadline = time.monotonic() + seconds
    try:
        return [each.wait(max(1, deadline - time.monotonic())) for each in started]
    finally:
        for each in started:
            if each.poll() is None:
                each.kill()


def _hangs(started: "list[subprocess.Popen[str]]", timeout: float) -> bool:
    """Waits until all have ended, or the others' grace is over if one has failed; False then."""
    deadline = time.monotonic() + timeout
    failed = False
    while any(process.poll() is None for process in started):
        if not failed and any(process.poll() for process in started):
            failed = True
            deadline = min(deadline, time.monotonic() + _GRACE_SECONDS)
        if time.monotonic() > deadline:
            return not failed
        time.sleep(0.02)
    return False


def _end(started: "list[subprocess.Popen[str]]") -> None:
    for process in started:
        with suppress(ProcessLookupError):
            if process.poll() is None:
                process.terminate()
    for process in started:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _first_cause(errors: list[str]) -> str:
    """What the rank said that failed first: the others tell that another has gone."""
    said = [error for error in errors if error]
    return next(
        (error for error in said if "another rank" not in error), (said or ["no output"])[0]
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
