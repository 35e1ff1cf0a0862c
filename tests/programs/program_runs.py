"""One run of a program: natively, or under the library with a codec."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from program_mpis import ProgramMpi

TIMEOUT = 600  # seconds; the programs take a few on a machine of their own

# Reductions change the order of a sum: without them a lossless codec changes no bit.
DATA_MOVEMENT = "bcast,allgather,allgatherv,gather,scatter,alltoall"


@dataclass(frozen=True)
class Compression:
    codec: str
    threshold: str
    collectives: str = DATA_MOVEMENT


@dataclass
class ProgramRun:
    code: int | None  # None: it did not end in time
    output: str
    errors: str
    report: dict | None  # of the library

    def compressed(self) -> int:
        """Messages and collectives."""
        assert self.report is not None
        return self.report["compressed_messages"] + self.report["collectives"]["entered"]


def environment(
    mpi: ProgramMpi, folders: Sequence[Path], extra: Mapping[str, str]
) -> dict[str, str]:
    """This process' environment without settings of MPIs and of Thinwire, and what a run needs."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if name == "THINWIRE_LIBRARY_DIR"
        or not name.startswith(("THINWIRE_", "OMPI_", "PMIX_", "PMI_", "PRTE_", "LD_PRELOAD"))
    }
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # Machines for tests have few cores and other work: a rank that waits lets others run.
    shared = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}
    path = ":".join(str(folder) for folder in (*mpi.libraries, *folders))
    return {**clean, **allow, **shared, "LD_LIBRARY_PATH": path, **extra}


def run_program(
    mpi: ProgramMpi,
    ranks: int,
    words: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
    compression: Compression | None = None,
) -> ProgramRun:
    """Runs it in `folder`, as a user would: by `thinwire run` where it is compressed."""
    report = folder / "thinwire-report.json"
    command = [*mpi.launcher, "-n", str(ranks), *(str(word) for word in words)]
    variables = dict(environment)
    if compression is not None:
        options = ["--codec", compression.codec, "--threshold", compression.threshold]
        options += ["--same-node", "--report", str(report)]
        command = [sys.executable, "-m", "thinwire", "run", *options, "--", *command]
        variables["THINWIRE_COLLECTIVES"] = compression.collectives
    code, output, errors = _call(command, folder, variables)
    return ProgramRun(code, output, errors, _read(report))


def _call(
    words: Sequence[str], folder: Path, variables: dict[str, str]
) -> tuple[int | None, str, str]:
    names = ("output.txt", "errors.txt")
    with (folder / names[0]).open("w") as output, (folder / names[1]).open("w") as errors:
        started = subprocess.Popen(words, cwd=folder, env=variables, stdout=output, stderr=errors)
        try:
            code = started.wait(TIMEOUT)
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


def _read(report: Path) -> dict | None:
    return json.loads(report.read_text()) if report.exists() else None
