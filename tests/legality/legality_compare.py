"""Which seeds come out otherwise under the library, and the smallest program that still does."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from legality_configurations import Configuration, configuration_of, wants_threads
from legality_jobs import Job, Line, Outcome, feature_names, run_seeds
from mpis import Mpi

KEPT = Path(__file__).resolve().parent / "kept"
OPERATIONS = 16  # of a phase, at most


@dataclass
class Difference:
    seed: int
    configuration: str
    what: list[str]


@dataclass
class Summary:
    seeds: int = 0
    differences: list[Difference] = field(default_factory=list)
    unfit: dict[int, list[str]] = field(default_factory=dict)  # wrong without the library
    features: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)  # drawn, but not for this MPI
    codecs: Counter[str] = field(default_factory=Counter)
    compressed: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    entered: int = 0

    def add(self, other: "Summary") -> None:
        self.seeds += other.seeds
        self.differences += other.differences
        self.unfit |= other.unfit
        for name, count in other.features.items():  # those that never occurred too
            self.features[name] += count
        self.left_out += other.left_out
        self.codecs += other.codecs
        self.compressed.update(other.compressed)
        self.messages += other.messages
        self.entered += other.entered

    def rare(self, share: float = 0.05) -> dict[str, float]:
        """Features that fewer seeds had."""
        return {
            name: count / max(1, self.seeds)
            for name, count in self.features.items()
            if count < share * self.seeds
        }


def differs(native: Line | None, ours: Line | None, lossy: bool) -> str | None:
    if native is None or ours is None:
        return "no result" if ours is None else None
    if ours.bad:
        return f"{ours.bad} promises broken"
    same = ours.kept == native.kept if lossy else ours.all == native.all
    if same:
        return None
    pairs = zip(native.phases, ours.phases, strict=True)
    phases = [at for at, (one, other) in enumerate(pairs) if one != other]
    return f"other results in phases {phases}"


def groups(seeds: Sequence[int]) -> dict[tuple[Configuration, bool], list[int]]:
    found = defaultdict(list)
    for seed in seeds:
        found[configuration_of(seed), wants_threads(seed)].append(seed)
    return found


def run_all(jobs: Sequence[tuple[Job, Sequence[int]]], at_once: int) -> list[Outcome]:
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda pair: run_seeds(*pair), jobs))


def run_natively(job: Job, seeds: Sequence[int], at_once: int) -> Outcome:
    """Whatever the codecs, it comes to the same: as few jobs as are run at once."""
    parts = []
    for threads in (False, True):
        mine = [seed for seed in seeds if wants_threads(seed) == threads]
        share = max(10, -(-2 * len(mine) // max(2, at_once)))
        for start in range(0, len(mine), share):
            parts.append((replace(job, threads=threads), mine[start : start + share]))
    whole = Outcome()
    for outcome in run_all(parts, at_once):
        whole.add(outcome)
    return whole


def compare(
    mpi: Mpi, ranks: int, seeds: Sequence[int], seconds: int = 60, at_once: int = 1
) -> Summary:
    """Runs every seed with and without the library, each codec's in one job, `at_once` jobs."""
    names = feature_names(mpi)
    summary = Summary(features=Counter({name: 0 for name in names}))
    job = Job(mpi, ranks, threads=False, seconds=seconds)
    native = run_natively(job, seeds, at_once)
    fit = [seed for seed in seeds if seed in native.lines and not native.lines[seed].bad]
    summary.unfit = {seed: native.said.get(seed, []) for seed in sorted({*seeds} - {*fit})}
    parts = [
        (replace(job, configuration=configuration, threads=threads), mine)
        for (configuration, threads), mine in groups(fit).items()
    ]
    for (ours, mine), outcome in zip(parts, run_all(parts, at_once), strict=True):
        assert ours.configuration is not None
        add(summary, ours.configuration, native, outcome, mine)
    return summary


def named(bits: str, names: Sequence[str]) -> list[str]:
    return [name for name, bit in zip(reversed(names), bits, strict=True) if bit == "1"]


def add(
    summary: Summary,
    configuration: Configuration,
    native: Outcome,
    ours: Outcome,
    seeds: Sequence[int],
) -> None:
    names = list(summary.features)
    for seed in seeds:
        summary.seeds += 1
        summary.codecs[configuration.codec] += 1
        summary.features.update(named(native.lines[seed].features, names))
        summary.left_out.update(named(native.lines[seed].left_out, names))
        why = differs(native.lines[seed], ours.lines.get(seed), configuration.lossy)
        if why is None and seed in ours.said and seed not in native.said:
            why = "goes wrong behind its line, while MPI ends"
        if why is not None:
            said = [why, *ours.said.get(seed, [])]
            summary.differences.append(Difference(seed, configuration.codec, said))
    for report in ours.reports:
        summary.messages += report["messages"]
        summary.entered += report["collectives"]["compressed"]
        summary.compressed[configuration.codec] += report["compressed_messages"]


def still_differs(job: Job, seed: int, drop: tuple[str, ...]) -> bool:
    native = run_seeds(replace(job, configuration=None, drop=drop), [seed])
    line = native.lines.get(seed)
    if line is None or line.bad:
        return False
    assert job.configuration is not None
    ours = run_seeds(replace(job, drop=drop), [seed])
    return differs(line, ours.lines.get(seed), job.configuration.lossy) is not None


def shrink(mpi: Mpi, ranks: int, seed: int, seconds: int = 20) -> tuple[str, ...] | None:
    """What can be dropped while the seed still differs; None if it does not when alone."""
    job = Job(mpi, ranks, wants_threads(seed), configuration_of(seed), seconds=seconds)
    if not still_differs(job, seed, ()):
        return None
    phases = len(run_seeds(replace(job, configuration=None), [seed]).lines[seed].phases)
    drop: tuple[str, ...] = ()
    for phase in range(phases):
        if still_differs(job, seed, (*drop, str(phase))):
            drop = (*drop, str(phase))
    left = [phase for phase in range(phases) if str(phase) not in drop]
    for phase in left:
        for operation in range(OPERATIONS):
            if still_differs(job, seed, (*drop, f"{phase}.{operation}")):
                drop = (*drop, f"{phase}.{operation}")
    return drop


def keep(mpi: Mpi, ranks: int, difference: Difference, drop: tuple[str, ...] | None) -> Path:
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{mpi.name}-{ranks}-{difference.seed}.json"
    found = {
        "mpi": mpi.name,
        "ranks": ranks,
        "seed": difference.seed,
        "drop": list(drop or ()),
        "threads": wants_threads(difference.seed),
        "codec": difference.configuration,
        "alone": drop is not None,
        "what": difference.what,
    }
    path.write_text(json.dumps(found, indent=2) + "\n")
    return path
