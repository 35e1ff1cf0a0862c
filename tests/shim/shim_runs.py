"""Runs of MPI programs, with and without the preload library, and what came of them."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpis import BUILD, ROOT, SYSTEM, Mpi

from thinwire.lab import Lab

__all__ = ["BUILD", "ROOT"]

PROGRAMS = SYSTEM.programs
EXCHANGE = PROGRAMS / "shim_exchange"
PRODUCTION = SYSTEM.production
TESTING = SYSTEM.testing

# The test codec carries any data without loss and always shrinks messages of at least 76 bytes.
# What it encodes can be decoded once, which is not enough for a collective.
SHRINK = {
    "THINWIRE_CODEC": "shrink",
    "THINWIRE_SAME_NODE": "1",
    "THINWIRE_THRESHOLD": "76",
    "THINWIRE_COLLECTIVES": "off",
}

# Libevent without epoll. The server of PMIx, in mpirun, closes the socket of a process that has
# ended and may leave it in the table of what libevent waits for. With epoll the next process whose
# socket gets that number is then never heard, and waits in MPI_Init for ever
# (docs/results/conformance.md).
SPAWNING = {"EVENT_NOEPOLL": "1"}
ZFP = {"THINWIRE_CODEC": "zfp:rate=16", "THINWIRE_SAME_NODE": "1"}

MPIRUN = SYSTEM.launcher


@dataclass
class Run:
    code: int | None  # None: it did not end in time
    output: str
    errors: str
    report: dict | None  # what rank 0 wrote at MPI_Finalize

    def thinwire_lines(self) -> list[str]:
        return [line for line in self.errors.splitlines() if line.startswith("thinwire")]

    def all_right(self, ranks: int) -> "Run":
        """Itself: it has ended well, and each rank has found all that it checks right."""
        assert self.code == 0, self.output + self.errors
        assert self.output.count("all right") == ranks, self.output
        return self

    @property
    def collectives(self) -> dict:
        assert self.report is not None
        return self.report["collectives"]


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process' environment with those settings and no others."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("THINWIRE_", "OMPI_", "PMIX_", "PMI_", "I_MPI_", "LD_PRELOAD"))
    }
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # Intel MPI binds each rank to a processor, where it waits for the other work of this machine.
    free = {"I_MPI_PIN": "0"}
    return {**clean, **allow, **free, **forced(settings), **settings}


def forced(settings: Mapping[str, str]) -> dict[str, str]:
    """What tests of codecs and messages run under: a codec that is named compresses whatever it
    costs. Not where a test says so itself, states a link's rate, or leaves the choice to "auto"."""
    named = settings.get("THINWIRE_CODEC", "auto") not in ("auto", "off")
    is_named = named or "THINWIRE_POLICY" in settings
    return {"THINWIRE_FORCE": "1"} if is_named and "THINWIRE_LINK" not in settings else {}


def preloaded(program: Sequence[str | Path], library: Path | None) -> list[str]:
    """The program's words with `library` preloaded, or as they are."""
    words = [str(word) for word in program]
    return words if library is None else ["env", f"LD_PRELOAD={library}", *words]


def run(
    words: Sequence[str | Path],
    settings: Mapping[str, str] | None = None,
    report: Path | None = None,
    timeout: float = 60,
) -> Run:
    """Runs `words`; with `report`, the library's report is written there and read back."""
    wanted = {} if report is None else {"THINWIRE_REPORT": str(report)}
    started = subprocess.Popen(
        [str(word) for word in words],
        env=environment({**(settings or {}), **wanted}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    code: int | None
    try:
        output, errors = started.communicate(timeout=timeout)
        code = started.returncode
    except subprocess.TimeoutExpired:
        output, errors = stop(started)
        code = None
    found = read_report(report) if report is not None and report.exists() else None
    return Run(code, output, errors, found)


def stop(started: "subprocess.Popen[str]") -> tuple[str, str]:
    """Ends a program that did not end by itself; what it wrote."""
    started.terminate()  # mpirun takes its ranks with it
    try:
        return started.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        started.kill()  # that of Open MPI 5 may wait for ranks that have gone
        return started.communicate()


def mpirun(
    ranks: int,
    program: Sequence[str | Path],
    library: Path | None = None,
    settings: Mapping[str, str] | None = None,
    report: Path | None = None,
    timeout: float = 60,
    mpi: Mpi = SYSTEM,
) -> Run:
    words = [*mpi.launcher, "-n", str(ranks), *preloaded(program, library)]
    return run(words, settings, report, timeout)


def over_hosts(
    lab: Lab,
    ranks: int,
    program: Sequence[str | Path],
    settings: Mapping[str, str],
    report: Path | None = None,
    *options: str,
    forward: bool = True,
    timeout: float = 60,
    mpi: Mpi = SYSTEM,
    beside: Sequence[Path] = (),
) -> Run:
    """An MPI's launcher on host 0 of a lab, with the library and others `beside` it; `forward`: on
    the other hosts, too. Hydra hands on all that it is told to set."""
    preload = ":".join(map(str, [mpi.production, *beside]))
    given = {**settings, "LD_PRELOAD": preload}
    if report is not None:
        given["THINWIRE_REPORT"] = str(report)
    if mpi.abi == "openmpi":
        passed = [word for name in given for word in ("-x", name)] if forward else []
    else:
        passed = [word for name in given for word in ("-genv", name, given[name])]
    done = lab.run(
        [mpi.launcher[0], "-n", str(ranks), *options, *passed, *map(str, program)],
        env=environment(given),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    written = read_report(report) if report is not None and report.exists() else None
    return Run(done.returncode, done.stdout, done.stderr, written)


def largest_differences(output: str) -> dict[int, float]:
    """By rank, what EXCHANGE printed."""
    lines = [line.split() for line in output.splitlines() if line.startswith("rank ")]
    return {int(words[1]): float(words[3]) for words in lines}


def read_report(path: Path) -> dict:
    return json.loads(path.read_text())
