"""mpi4py's own test suite in MPI jobs, module by module, and what two runs of it differ in.

One job runs all modules one behind the other. Where it crashes, aborts or hangs, the module that it
was in is noted as ended, and the next job goes on behind it.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mpi4py_package import Installed, libraries_for_wheel
from program_runs import Compression, ProgramMpi, environment, run_program

RANK = Path(__file__).with_name("mpi4py_rank.py")
TEST_SECONDS = 240  # that one test may stay in; the longest takes a few on a machine of its own
JOB_SECONDS = 3600
BADNESS = ("passed", "skipped", "failed", "ended")


@dataclass
class SuiteRun:
    outcomes: dict[str, str] = field(default_factory=dict)  # by test; the worst of the ranks
    texts: dict[str, str] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)  # modules that did not end, and how
    modules: list[str] = field(default_factory=list)
    reports: list[dict] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)  # modules, as the time was up
    library: str = ""

    def counts(self) -> Counter:
        return Counter(self.outcomes.values())

    def compressed(self) -> int:
        return sum(
            report["compressed_messages"] + report["collectives"]["compressed"]
            for report in self.reports
        )


def suite_modules(installed: Installed) -> list[str]:
    return sorted(path.stem for path in installed.tests.glob("test_*.py"))


def run_suite(
    installed: Installed,
    mpi: ProgramMpi,
    ranks: int,
    folder: Path,
    compression: Compression | None = None,
    modules: Sequence[str] | None = None,
    seconds: float | None = None,
    test_seconds: float = TEST_SECONDS,
) -> SuiteRun:
    """All modules, or `modules`. After `seconds` it ends, and counts what was done by then."""
    left = list(modules or suite_modules(installed))
    run = SuiteRun(modules=list(left))
    end = time.monotonic() + (1e9 if seconds is None else seconds)
    while left:
        job = folder / f"job-{len(run.ended)}"
        (job / "records").mkdir(parents=True)
        how = _run_job(installed, mpi, ranks, left, job, compression, run, end, test_seconds)
        done = _read(job / "records", ranks, left, run)
        left = left[done:]
        if time.monotonic() >= end:
            run.not_run = left
            return run
        if left:
            run.ended[left[0]] = how
            run.outcomes[left[0]] = "ended"
            left = left[1:]
    return run


def _run_job(
    installed: Installed,
    mpi: ProgramMpi,
    ranks: int,
    modules: Sequence[str],
    job: Path,
    compression: Compression | None,
    run: SuiteRun,
    end: float,
    test_seconds: float,
) -> str:
    """How it ended, in words."""
    named = libraries_for_wheel(mpi) if installed.abi is not None else []
    variables = environment(mpi, named, installed.environment(mpi))
    words = [sys.executable, RANK, job / "records", test_seconds, installed.tests, *modules]
    seconds = min(JOB_SECONDS, max(end - time.monotonic(), 1))
    done = run_program(mpi, ranks, words, job, variables, compression, seconds)
    if done.report is not None:
        run.reports.append(done.report)
    how = "not done in time" if done.code is None else f"exit {done.code}"
    return f"{how}: {done.errors[-3000:]}"


def _read(records: Path, ranks: int, modules: Sequence[str], run: SuiteRun) -> int:
    """Takes what was recorded of modules that all ranks ended; how many these are."""
    lines: list[dict] = []
    ended: Counter = Counter()
    for rank in range(ranks):
        path = records / f"rank-{rank}"
        text = path.read_text() if path.exists() else ""
        own = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        lines += own
        ended.update(line["module"] for line in own if "ends" in line)
    done = 0
    while done < len(modules) and ended[modules[done]] == ranks:
        done += 1
    complete = set(modules[:done])
    for line in lines:
        if "library" in line:
            run.library = line["library"]
        elif "test" in line and line["module"] in complete:
            _take(line, run)
    return done


def _take(line: dict, run: SuiteRun) -> None:
    test, outcome = line["test"], line["outcome"]
    if BADNESS.index(outcome) >= BADNESS.index(run.outcomes.get(test, "passed")):
        run.outcomes[test], run.texts[test] = outcome, line["text"]


def worse(native: SuiteRun, ours: SuiteRun) -> dict[str, str]:
    """By test or module, what is worse than natively."""
    found = {}
    for module, how in ours.ended.items():
        if module not in native.ended:
            found[module] = f"ended, {how}"
    broken = {*native.ended, *ours.ended}
    for test in {*native.outcomes, *ours.outcomes}:
        if test.split(".")[0] in broken:
            continue
        before, now = native.outcomes.get(test, "absent"), ours.outcomes.get(test, "absent")
        if now not in ("passed", before) and before != "failed":
            found[test] = f"{now}, natively {before}: {ours.texts.get(test, '')}"
    return found
