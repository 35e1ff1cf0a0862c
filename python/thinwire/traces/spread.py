"""How a job's messages spread: over pairs of ranks or of nodes, and over time."""

from collections import defaultdict
from dataclasses import fields
from typing import Any

from thinwire.traces.read import Bin, RankTrace

# Points of a line over time, and ranks that are shown one by one.
MOST_POINTS = 240
MOST_RANKS = 64
_OF_A_BIN_ALONE = ("start", "end", "pool_bytes", "steps")
SUMMED = tuple(each.name for each in fields(Bin) if each.name not in _OF_A_BIN_ALONE)


def nodes_of(traces: list[RankTrace]) -> dict[int, int]:
    """The number of each rank's node, in the order in which nodes come."""
    names: dict[str, int] = {}
    return {trace.rank: names.setdefault(trace.head["node"], len(names)) for trace in traces}


def matrix(traces: list[RankTrace]) -> dict[str, Any]:
    """Messages' bytes from each to each: ranks, or nodes where there are many ranks. Peers that a
    rank did not tell apart, or whose node is not known, have no column."""
    by_node = traces[0].head["ranks"] > MOST_RANKS
    nodes = nodes_of(traces)
    names = list(dict.fromkeys(trace.head["node"] for trace in traces))
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    apart = 0
    for trace in traces:
        for cell in trace.cells:
            if not cell.is_message:
                continue
            known = cell.peer is not None and (not by_node or cell.peer in nodes)
            if not known:
                apart += cell.bytes
                continue
            assert cell.peer is not None
            pair = (nodes[trace.rank], nodes[cell.peer]) if by_node else (trace.rank, cell.peer)
            for place, more in enumerate((cell.calls, cell.bytes, cell.wire_bytes)):
                sums[pair][place] += more
    ends = names if by_node else [str(rank) for rank in range(traces[0].head["ranks"])]
    return {
        "of": "nodes" if by_node else "ranks",
        "names": ends,
        "pairs": [[a, b, *figures] for (a, b), figures in sorted(sums.items())],
        "bytes_to_others": apart,
    }


def over_time(traces: list[RankTrace]) -> list[dict[str, Any]]:
    """The ranks' bins on one clock, in steps as long as MOST_POINTS want them."""
    first = min(float(trace.head["started"]) for trace in traces)
    ends = [float(trace.head["started"]) - first + trace.seconds for trace in traces]
    step = max(0.25, max(ends) / MOST_POINTS)
    steps: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for trace in traces:
        offset = float(trace.head["started"]) - first
        held: dict[int, int] = {}
        for each in trace.bins:
            for at, part in _steps_of(offset + each.start, offset + each.end, step):
                held[at] = max(held.get(at, 0), each.pool_bytes)
                for name in SUMMED:
                    steps[at][name] += getattr(each, name) * part
        for at, most in held.items():
            steps[at]["pool_bytes"] += most
    return [
        {"from": round(at * step, 6), "to": round((at + 1) * step, 6)}
        | {name: round(steps[at][name], 3) for name in (*SUMMED, "pool_bytes")}
        for at in range(max(steps, default=-1) + 1)
    ]


def _steps_of(start: float, end: float, step: float) -> list[tuple[int, float]]:
    """The steps that a time shares, and which part of it each has."""
    first, last = int(start / step), int(end / step)
    if first == last or end <= start:
        return [(first, 1.0)]
    parts = [
        (at, (min(end, (at + 1) * step) - max(start, at * step)) / (end - start))
        for at in range(first, last + 1)
    ]
    return [(at, part) for at, part in parts if part > 0]
