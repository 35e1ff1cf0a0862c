"""What all ranks of a job did together: summed up trace by trace, so that none has to be kept."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from thinwire.traces.files import each, outline
from thinwire.traces.kinds import Kinds
from thinwire.traces.read import RankTrace, Warn
from thinwire.traces.spread import Matrix, OverTime
from thinwire.traces.steps import LongestSteps
from thinwire.traces.totals import Totals


@dataclass
class Merged:
    """Of a job: what it was, sums, who sends to whom, what happened when."""

    job: dict[str, Any]
    totals: dict[str, Any]  # as THINWIRE_REPORT has them
    kinds: list[dict[str, Any]]  # cells of all ranks, without peers
    matrix: dict[str, Any]
    over_time: list[dict[str, Any]]
    raw: list[dict[str, Any]]  # by reason, the most bytes first
    ranks: list[dict[str, Any]]
    saved: dict[str, Any]  # time, where one was predicted
    steps: dict[str, Any] | None  # if calls repeat
    warnings: list[str]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class _Job:
    """What the job was: of the first rank, and over all so far."""

    def __init__(self, first: RankTrace) -> None:
        self._first = first.head
        self._nodes: dict[str, int] = {}  # numbered as they come
        self._processors: set[tuple[str, int]] = set()
        self._threads = self._settings_differ = False
        self._started, self._seconds = first.head["started"], 0.0
        self._traced = 0

    def add(self, trace: RankTrace) -> int:
        """The number of the rank's node."""
        head = trace.head
        self._processors.add((head["processor"], head["processors"]))
        self._threads |= head["threads"]
        self._settings_differ |= head["settings"] != self._first["settings"]
        self._started = min(self._started, head["started"])
        self._seconds = max(self._seconds, trace.seconds)
        self._traced += 1
        return self._nodes.setdefault(head["node"], len(self._nodes))

    def done(self) -> dict[str, Any]:
        first = self._first
        return {
            "version": first["version"],
            "mpi": first["mpi"],
            "ranks": first["ranks"],
            "traced_ranks": self._traced,
            "nodes": sorted(self._nodes),
            "processors": sorted(self._processors),
            "threads": self._threads,
            "started": self._started,
            "seconds": self._seconds,
            "codec": first["codec"],
            "threshold": first["threshold"],
            "settings": first["settings"],
            "settings_differ": self._settings_differ,
        }


def _rank_row(trace: RankTrace, node: int) -> dict[str, Any]:
    sends = [cell for cell in trace.cells if cell.is_message]
    return {
        "rank": trace.rank,
        "node": trace.head["node"],
        "node_number": node,
        "ended": trace.has_end,
        "messages": sum(cell.calls for cell in sends),
        "bytes": sum(cell.bytes for cell in sends),
        "wire_bytes": sum(cell.wire_bytes for cell in sends),
        "encode_seconds": 1e-9 * sum(cell.nanoseconds for cell in sends),
        "decode_seconds": 1e-9 * sum(each.decode_nanoseconds for each in trace.bins),
        "errors": sum(each.errors for each in trace.bins),
        "saved_seconds": 1e-9
        * sum(cell.raw_nanoseconds - cell.whole_nanoseconds for cell in trace.cells),
        "pool_bytes_at_most": trace.pool_peak_bytes,
    }


class Merging:
    """The sums of the traces so far, which come by rank. `nodes` has those of all ranks."""

    def __init__(self, nodes: dict[int, str]) -> None:
        self._nodes = nodes
        self._job: _Job | None = None
        self._totals, self._kinds, self._steps = Totals(), Kinds(), LongestSteps()
        self._ranks: list[dict[str, Any]] = []

    def add(self, trace: RankTrace) -> None:
        if self._job is None:
            self._job = _Job(trace)
            self._matrix = Matrix(trace.head["ranks"], self._nodes)
            self._over_time = OverTime(float(trace.head["started"]))
        self._ranks.append(_rank_row(trace, self._job.add(trace)))
        self._totals.add(trace)
        self._kinds.add(trace)
        self._matrix.add(trace)
        self._over_time.add(trace)
        self._steps.add(trace)

    def done(self, warnings: list[str]) -> Merged:
        """`warnings` is what reading said."""
        assert self._job is not None
        return Merged(
            job=self._job.done(),
            totals=self._totals.done(),
            kinds=self._kinds.rows(),
            matrix=self._matrix.done(),
            over_time=self._over_time.done(),
            raw=self._kinds.raw(),
            ranks=self._ranks,
            saved=self._kinds.saved(),
            steps=self._steps.done(),
            warnings=list(warnings),
        )


def merge(traces: list[RankTrace], warnings: list[str]) -> Merged:
    """Of traces that were read; `warnings` is what reading said."""
    merging = Merging({trace.rank: trace.head["node"] for trace in traces})
    for trace in traces:
        merging.add(trace)
    return merging.done(warnings)


def merge_files(paths: list[Path], warn: Warn, leave_out: Callable[[Exception], None]) -> Merged:
    """Of files, one after the other. `leave_out` is told of each that is damaged."""
    warnings: list[str] = []

    def note(warning: str) -> None:
        warnings.append(warning)
        warn(warning)

    def note_left_out(error: Exception) -> None:
        warnings.append(f"left out: {error}")
        leave_out(error)

    job = outline(paths)
    merging = Merging(job.nodes)
    for trace in each(job, note, note_left_out):
        merging.add(trace)
    return merging.done(warnings)
