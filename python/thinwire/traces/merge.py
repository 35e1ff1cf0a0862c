"""What all ranks of a job did together."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from thinwire.traces.read import Cell, RankTrace
from thinwire.traces.spread import matrix, nodes_of, over_time
from thinwire.traces.steps import steps

FIGURES = (
    "calls",
    "bytes",
    "wire_bytes",
    "predicted_nanoseconds",
    "nanoseconds",
    "raw_nanoseconds",
    "whole_nanoseconds",
)
HISTOGRAMS = ("sizes", "times", "predictions")


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


def _sum(values: Iterable[Any]) -> Any:
    """Numbers added, in dictionaries by name; the first of anything else."""
    found = list(values)
    if all(isinstance(value, dict) for value in found):
        names = dict.fromkeys(name for value in found for name in value)
        return {name: _sum(value[name] for value in found if name in value) for name in names}
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return sum(found)
    return found[0]


def _rules(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The policy's rules, by their place: names and lines are those of the first rank."""
    found = [rules for totals in traces if (rules := totals.get("rules"))]
    return [{**_sum(each), "line": each[0]["line"]} for each in zip(*found, strict=False)]


def _totals(traces: list[RankTrace]) -> dict[str, Any]:
    each = [trace.totals if trace.totals is not None else _from_bins(trace) for trace in traces]
    rules = _rules(each)
    summed = _sum(
        {name: value for name, value in totals.items() if name != "rules"} for totals in each
    )
    return {**summed, "rules": rules} if rules else summed


def _from_bins(trace: RankTrace) -> dict[str, Any]:
    """The report's main figures of a rank whose trace was cut short."""
    sends = [cell for cell in trace.cells if cell.is_message]
    compressed = [cell for cell in sends if cell.raw is None]
    calls = [cell for cell in trace.cells if not cell.is_message]
    below = sum(each.below_threshold for each in trace.bins)
    reasons: dict[str, int] = defaultdict(int)
    native: dict[str, int] = defaultdict(int)
    native_bytes: dict[str, int] = defaultdict(int)
    if below:
        reasons["below the threshold"] = below
    for cell in trace.cells:
        if cell.raw is None:
            continue
        (reasons if cell.is_message else native)[cell.raw] += cell.calls
        if not cell.is_message:
            native_bytes[cell.raw] += cell.bytes
    whole = [cell for cell in calls if cell.raw is None]
    return {
        "codec": trace.head["codec"],
        "messages": sum(cell.calls for cell in sends) + below,
        "compressed_messages": sum(cell.calls for cell in compressed),
        "decoded_messages": sum(each.decoded for each in trace.bins),
        "bytes": sum(cell.bytes for cell in sends),
        "wire_bytes": sum(cell.wire_bytes for cell in sends),
        "compressed_bytes": sum(cell.bytes for cell in compressed),
        "compressed_wire_bytes": sum(cell.wire_bytes for cell in compressed),
        "encode_seconds": 1e-9 * sum(cell.nanoseconds for cell in sends),
        "decode_seconds": 1e-9 * sum(each.decode_nanoseconds for each in trace.bins),
        "raw_by_reason": dict(reasons),
        "collectives": {
            "compressed": sum(cell.calls for cell in whole),
            "bytes": sum(cell.bytes for cell in whole),
            "wire_bytes": sum(cell.wire_bytes for cell in whole),
            "seconds": 1e-9 * sum(cell.nanoseconds for cell in whole),
            "predicted_seconds": 1e-9 * sum(cell.predicted_nanoseconds for cell in whole),
            "native_calls": sum(native.values()),
            "native_by_reason": dict(native),
            "native_bytes": sum(native_bytes.values()),
            "native_bytes_by_reason": dict(native_bytes),
        },
    }


def _kinds(traces: list[RankTrace]) -> list[dict[str, Any]]:
    merged: dict[tuple[Any, ...], Cell] = {}
    for trace in traces:
        for cell in trace.cells:
            key = (cell.operation, cell.communicator, cell.place, cell.codec, cell.raw)
            into = merged.setdefault(
                key, Cell(cell.operation, cell.communicator, cell.place, None, cell.codec, cell.raw)
            )
            for name in FIGURES:
                setattr(into, name, getattr(into, name) + getattr(cell, name))
            for name in HISTOGRAMS:
                mine = getattr(into, name)
                for bucket, count in getattr(cell, name).items():
                    mine[bucket] = mine.get(bucket, 0) + count
    found = sorted(merged.values(), key=lambda cell: -cell.bytes)
    return [
        {name: value for name, value in asdict(cell).items() if name != "peer"}
        | {"saved_nanoseconds": cell.raw_nanoseconds - cell.whole_nanoseconds}
        for cell in found
    ]


def _saved(traces: list[RankTrace]) -> dict[str, Any]:
    """Seconds of messages and of collectives: had they gone raw, as predicted, and as they went."""
    found: dict[str, Any] = {}
    for name, is_message in (("messages", True), ("collectives", False)):
        cells = [cell for trace in traces for cell in trace.cells if cell.is_message == is_message]
        raw = sum(cell.raw_nanoseconds for cell in cells)
        whole = sum(cell.whole_nanoseconds for cell in cells)
        found[name] = {
            "raw_seconds": 1e-9 * raw,
            "seconds": 1e-9 * whole,
            "saved_seconds": 1e-9 * (raw - whole),
        }
    return found


def _raw(traces: list[RankTrace]) -> list[dict[str, Any]]:
    sums: dict[tuple[str, bool], list[int]] = defaultdict(lambda: [0, 0])
    for trace in traces:
        for cell in trace.cells:
            if cell.raw is not None:
                into = sums[cell.raw, cell.is_message]
                into[0] += cell.calls
                into[1] += cell.bytes
    below = sum(each.below_threshold for trace in traces for each in trace.bins)
    if below:  # which are counted alone
        sums["below the threshold", True] = [below, 0]
    rows = [
        {"reason": why, "of": "messages" if sent else "collectives", "calls": calls, "bytes": size}
        for (why, sent), (calls, size) in sums.items()
    ]
    return sorted(rows, key=lambda row: (-int(row["bytes"]), -int(row["calls"])))


def _job(traces: list[RankTrace]) -> dict[str, Any]:
    heads = [trace.head for trace in traces]
    first = heads[0]
    return {
        "version": first["version"],
        "mpi": first["mpi"],
        "ranks": first["ranks"],
        "traced_ranks": len(traces),
        "nodes": sorted({head["node"] for head in heads}),
        "processors": sorted({(head["processor"], head["processors"]) for head in heads}),
        "threads": any(head["threads"] for head in heads),
        "started": min(head["started"] for head in heads),
        "seconds": max(trace.seconds for trace in traces),
        "codec": first["codec"],
        "threshold": first["threshold"],
        "settings": first["settings"],
        "settings_differ": any(head["settings"] != first["settings"] for head in heads),
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


def merge(traces: list[RankTrace], warnings: list[str]) -> Merged:
    """`warnings` is what reading said."""
    nodes = nodes_of(traces)
    return Merged(
        job=_job(traces),
        totals=_totals(traces),
        kinds=_kinds(traces),
        matrix=matrix(traces),
        over_time=over_time(traces),
        raw=_raw(traces),
        ranks=[_rank_row(trace, nodes[trace.rank]) for trace in traces],
        saved=_saved(traces),
        steps=steps(traces),
        warnings=list(warnings),
    )
