"""What a run of the GPU tests came to, in lines."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pool import Outcome, Test
from scheduler import Scheduler

ROOT = Path(__file__).resolve().parent.parent.parent
SLOWEST = 12


def output_of(*command: str) -> str:
    """What a command prints; "" if it fails or is not there."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def machine() -> list[str]:
    """What the tests ran on."""
    query = ("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    gpus = Counter(output_of(*query).splitlines())
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    cuda = [line for line in output_of(nvcc, "--version").splitlines() if "release" in line]
    changed = " with changes" if output_of("git", "status", "--porcelain", "-uno") else ""
    commit = output_of("git", "rev-parse", "--short=12", "HEAD")
    return [
        f"date    {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        *(f"GPU     {count} x {name}" for name, count in gpus.items()),
        *(["GPU     none that nvidia-smi shows"] if not gpus else []),
        f"CUDA    {cuda[0].strip() if cuda else 'no nvcc'}",
        f"cores   {os.cpu_count()}",
        f"commit  {commit + changed if commit else 'not known'}",
    ]


def results(done: Scheduler) -> list[str]:
    """Counts; what failed, and alone; what did not run; why tests were skipped; what took long."""
    by_outcome = Counter(each.outcome for each in done.outcomes.values())
    unrun = done.not_run()
    counts = ", ".join(f"{by_outcome[word]} {word}" for word in ("passed", "failed", "skipped"))
    lines = [f"{counts}, {len(unrun)} not run"]
    for reason, names in skipped(done.outcomes).items():
        kinds = sorted({shortened(name).partition("[")[0] for name in names})
        lines.append(f"skipped {len(names)}: {reason} ({', '.join(kinds)})")
    for name, each in done.outcomes.items():
        if each.outcome == "failed":
            again = f"{each.again} when run again alone" if each.again else "not run again"
            lines.append(f"FAILED  {shortened(name)}: {again}")
    lines += [f"not over when the time was up: {shortened(name)}" for name in done.cut_off]
    lines += [f"not run: {count} of {path}" for path, count in by_file(unrun).items()]
    longest = sorted(done.outcomes.items(), key=lambda each: -each[1].seconds)[:SLOWEST]
    return lines + [
        f"took {each.seconds:.0f} s: {shortened(name)}"
        for name, each in longest
        if each.seconds > 1
    ]


def succeeded(done: Scheduler) -> bool:
    """All have run, some passed, and what failed beside others passed alone."""
    outcomes = done.outcomes.values()
    sound = all(each.outcome != "failed" or each.again == "passed" for each in outcomes)
    return sound and any(each.outcome == "passed" for each in outcomes) and not done.not_run()


def skipped(outcomes: dict[str, Outcome]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for name, each in outcomes.items():
        if each.outcome == "skipped":
            reasons.setdefault(each.text, []).append(name)
    return reasons


def by_file(tests: Sequence[Test]) -> dict[str, int]:
    return dict(Counter(Path(test.path).stem for test in tests))


def left(done: Scheduler) -> list[str]:
    """What did not run, as pytest takes it from the root of the tree."""
    return [
        f"{os.path.relpath(test.path, ROOT)}::{test.name.partition('::')[2]}"
        for test in done.not_run()
    ]


def shortened(name: str) -> str:
    """A test's name without folders."""
    path, colons, rest = name.partition("::")
    return Path(path).stem + colons + rest


def written(lines: Iterable[str], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
