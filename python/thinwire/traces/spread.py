"""How a job's messages spread: over pairs of ranks or of nodes, and over time."""

import math
from dataclasses import fields
from typing import Any

from thinwire.traces.read import Bin, RankTrace

# Points of a line over time, and ranks that are shown one by one.
MOST_POINTS = 240
MOST_RANKS = 64
_OF_A_BIN_ALONE = ("start", "end", "pool_bytes", "steps")
SUMMED = tuple(each.name for each in fields(Bin) if each.name not in _OF_A_BIN_ALONE)


class Matrix:
    """Messages' bytes from each to each: ranks, or nodes if there are many ranks. Peers that a
    rank did not tell apart, or whose node is not known, have no column."""

    def __init__(self, ranks: int, nodes: dict[int, str]) -> None:
        self._ranks, self._nodes = ranks, nodes
        self._by_node = ranks > MOST_RANKS
        self._senders: dict[str, int] = {}  # nodes of those that have a trace, numbered
        self._sums: dict[tuple[Any, Any], list[int]] = {}
        self._apart = 0

    def add(self, trace: RankTrace) -> None:
        node = trace.head["node"]
        self._senders.setdefault(node, len(self._senders))
        for cell in trace.cells:
            if not cell.is_message:
                continue
            if cell.peer is None or (self._by_node and cell.peer not in self._nodes):
                self._apart += cell.bytes
                continue
            by_node = (node, self._nodes.get(cell.peer))
            into = self._sums.setdefault(
                by_node if self._by_node else (trace.rank, cell.peer), [0, 0, 0]
            )
            for place, more in enumerate((cell.calls, cell.bytes, cell.wire_bytes)):
                into[place] += more

    def done(self) -> dict[str, Any]:
        pairs, apart = self._sums, self._apart
        if self._by_node:
            known = {pair: sums for pair, sums in pairs.items() if pair[1] in self._senders}
            apart += sum(pairs[pair][1] for pair in pairs.keys() - known.keys())
            pairs = {(self._senders[a], self._senders[b]): sums for (a, b), sums in known.items()}
        ranks = [str(rank) for rank in range(self._ranks)] if not self._by_node else []
        return {
            "of": "nodes" if self._by_node else "ranks",
            "names": list(self._senders) if self._by_node else ranks,
            "pairs": [[a, b, *figures] for (a, b), figures in sorted(pairs.items())],
            "bytes_to_others": apart,
        }


class OverTime:
    """The ranks' bins on one clock, in at most MOST_POINTS steps, which get twice as long when
    they would be more."""

    def __init__(self, origin: float) -> None:
        """`origin` is when some rank started; others may have started earlier."""
        self._origin = origin
        self._step = 0.25
        self._first, self._last = 0.0, 0.0
        self._steps: dict[int, dict[str, float]] = {}

    def add(self, trace: RankTrace) -> None:
        offset = float(trace.head["started"]) - self._origin
        self._first = min(self._first, offset)
        self._last = max(self._last, offset + trace.seconds)
        while self._last - self._first > self._step * MOST_POINTS:
            self._lengthen()
        held: dict[int, int] = {}
        for each in trace.bins:
            for at, part in _steps_of(offset + each.start, offset + each.end, self._step):
                held[at] = max(held.get(at, 0), each.pool_bytes)
                into = self._steps.setdefault(at, dict.fromkeys((*SUMMED, "pool_bytes"), 0.0))
                for name in SUMMED:
                    into[name] += getattr(each, name) * part
        for at, most in held.items():
            self._steps[at]["pool_bytes"] += most

    def _lengthen(self) -> None:
        """Two steps become one: figures are added, but of memory the most is kept."""
        self._step *= 2
        old, self._steps = self._steps, {}
        for at, figures in old.items():
            into = self._steps.setdefault(at // 2, dict.fromkeys(figures, 0.0))
            for name, value in figures.items():
                into[name] = max(into[name], value) if name == "pool_bytes" else into[name] + value

    def done(self) -> list[dict[str, Any]]:
        first = math.floor(self._first / self._step)
        nothing = dict.fromkeys((*SUMMED, "pool_bytes"), 0.0)
        return [
            {
                "from": round((at - first) * self._step, 6),
                "to": round((at - first + 1) * self._step, 6),
            }
            | {name: round(value, 3) for name, value in self._steps.get(at, nothing).items()}
            for at in range(first, max(self._steps, default=first - 1) + 1)
        ]


def _steps_of(start: float, end: float, step: float) -> list[tuple[int, float]]:
    """The steps that a time shares, and which part of it each has."""
    first, last = math.floor(start / step), math.floor(end / step)
    if first == last or end <= start:
        return [(first, 1.0)]
    parts = [
        (at, (min(end, (at + 1) * step) - max(start, at * step)) / (end - start))
        for at in range(first, last + 1)
    ]
    return [(at, part) for at, part in parts if part > 0]
