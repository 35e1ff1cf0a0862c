"""Jobs of many seeds each, natively and under the library, and what came of every seed."""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shim"))

from legality_configurations import Configuration, environment_of, left_out  # noqa: E402
from mpis import ALL, BUILD, SYSTEM, Mpi  # noqa: E402
from shim_runs import run  # noqa: E402

LINE = re.compile(
    r"seed (\d+) all (\w+) kept (\w+) bad (\d+) features ([01]+) left ([01]+) phases (\S*)$",
    re.MULTILINE,
)
PLACE = re.compile(r"(?:BAD|HANG|CRASH) seed (\d+) phase -?\d+ rank \d+.*")


def program_of(mpi: Mpi) -> Path:
    folder = BUILD / "tests" / "legality"
    return (folder if mpi is SYSTEM else folder / mpi.name) / "shim_legality"


MPIS = {mpi.name: mpi for mpi in ALL if mpi is SYSTEM or program_of(mpi).exists()}


@dataclass(frozen=True)
class Line:
    """What a seed came to: hashes of all that its ranks saw."""

    all: str
    kept: str
    bad: int
    features: str
    left_out: str  # drawn, but not for this MPI
    phases: tuple[str, ...]


@dataclass
class Outcome:
    lines: dict[int, Line] = field(default_factory=dict)
    said: dict[int, list[str]] = field(default_factory=dict)  # what went wrong, by seed
    reports: list[dict] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.lines |= other.lines
        self.said |= other.said
        self.reports += other.reports


@dataclass(frozen=True)
class Job:
    mpi: Mpi
    ranks: int
    threads: bool
    configuration: Configuration | None = None  # None: without the library
    drop: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    seconds: int = 60

    def words(self, seeds: Sequence[int], report: Path | None = None) -> list[str]:
        words = [str(program_of(self.mpi)), "--seeds", ranges(seeds)]
        words += ["--seconds", str(self.seconds), "--threads", str(int(self.threads))]
        words += ["--drop", ",".join(self.drop)] if self.drop else []
        without = sorted({*self.without, *left_out(self.mpi.name)})
        words += ["--without", ",".join(without)] if without else []
        settings = {**self.settings(), **({"THINWIRE_REPORT": str(report)} if report else {})}
        if self.configuration is not None:
            settings["LD_PRELOAD"] = str(self.mpi.production)
            words += self.configuration.options()
        # Each rank is told, as a launcher may hand on nothing to the other hosts of a lab.
        told = ["env", *(f"{name}={value}" for name, value in settings.items())]
        return [*self.mpi.launcher, "-n", str(self.ranks), *told, *words]

    def settings(self) -> Mapping[str, str]:
        quiet = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # there may be more ranks than cores
        quiet |= environment_of(self.mpi.name)
        return quiet if self.configuration is None else quiet | self.configuration.settings()


def ranges(seeds: Iterable[int]) -> str:
    """1,2,5:9 (the last one not)."""
    found: list[list[int]] = []
    for seed in seeds:
        if found and found[-1][1] == seed:
            found[-1][1] += 1
        else:
            found.append([seed, seed + 1])
    return ",".join(str(a) if b == a + 1 else f"{a}:{b}" for a, b in found)


def feature_names(mpi: Mpi) -> list[str]:
    said = subprocess.run([program_of(mpi), "--features"], capture_output=True, text=True)
    return said.stdout.split()


def run_once(job: Job, seeds: Sequence[int]) -> tuple[Outcome, str]:
    """One job; its standard error besides."""
    with TemporaryDirectory() as folder:
        report = None if job.configuration is None else Path(folder, "report.json")
        limit = 60 + job.seconds * 2 + 20 * len(seeds)
        done = run(job.words(seeds, report), job.settings(), report, timeout=limit)
    outcome = Outcome()
    for seed, every, kept, bad, features, left, phases in LINE.findall(done.output):
        found = tuple(part for part in phases.split(",") if part)
        outcome.lines[int(seed)] = Line(every, kept, int(bad), features, left, found)
    for match in PLACE.finditer(done.output):
        outcome.said.setdefault(int(match[1]), []).append(match[0])
    if done.report is not None:
        outcome.reports.append(done.report)
    return outcome, f"exit {done.code}: {done.errors[-2000:]}"


def run_seeds(job: Job, seeds: Sequence[int]) -> Outcome:
    """As many jobs as it takes: one that ends early is taken up behind the seed that ended it."""
    whole = Outcome()
    left = list(seeds)
    while left:
        outcome, ending = run_once(job, left)
        whole.add(outcome)
        missing = [seed for seed in left if seed not in outcome.lines]
        if missing:
            whole.said.setdefault(missing[0], []).append(f"no result, {ending}")
        left = missing[1:]
    return whole
