"""What the ranks' messages and calls came to, by kind, and by why they stayed raw."""

from dataclasses import asdict
from typing import Any

from thinwire.traces.read import Cell, RankTrace

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


class Kinds:
    """Cells of all ranks so far, without peers."""

    def __init__(self) -> None:
        self._cells: dict[tuple[Any, ...], Cell] = {}
        self._below_threshold = 0

    def add(self, trace: RankTrace) -> None:
        for cell in trace.cells:
            key = (cell.operation, cell.communicator, cell.place, cell.codec, cell.raw)
            into = self._cells.setdefault(
                key, Cell(cell.operation, cell.communicator, cell.place, None, cell.codec, cell.raw)
            )
            for name in FIGURES:
                setattr(into, name, getattr(into, name) + getattr(cell, name))
            for name in HISTOGRAMS:
                mine = getattr(into, name)
                for bucket, count in getattr(cell, name).items():
                    mine[bucket] = mine.get(bucket, 0) + count
        self._below_threshold += sum(each.below_threshold for each in trace.bins)

    def rows(self) -> list[dict[str, Any]]:
        """The most bytes first."""
        found = sorted(self._cells.values(), key=lambda cell: -cell.bytes)
        return [
            {name: value for name, value in asdict(cell).items() if name != "peer"}
            | {"saved_nanoseconds": cell.raw_nanoseconds - cell.whole_nanoseconds}
            for cell in found
        ]

    def saved(self) -> dict[str, Any]:
        """Seconds of messages and of collectives: had they gone raw, as predicted, and as they
        went."""
        found: dict[str, Any] = {}
        for name, is_message in (("messages", True), ("collectives", False)):
            cells = [cell for cell in self._cells.values() if cell.is_message == is_message]
            raw = sum(cell.raw_nanoseconds for cell in cells)
            whole = sum(cell.whole_nanoseconds for cell in cells)
            found[name] = {
                "raw_seconds": 1e-9 * raw,
                "seconds": 1e-9 * whole,
                "saved_seconds": 1e-9 * (raw - whole),
            }
        return found

    def raw(self) -> list[dict[str, Any]]:
        """By reason, the most bytes first. Messages below the threshold are counted alone."""
        sums: dict[tuple[str, bool], list[int]] = {}
        for cell in self._cells.values():
            if cell.raw is not None:
                into = sums.setdefault((cell.raw, cell.is_message), [0, 0])
                into[0] += cell.calls
                into[1] += cell.bytes
        if self._below_threshold:
            sums["below the threshold", True] = [self._below_threshold, 0]
        rows = [
            {
                "reason": why,
                "of": "messages" if sent else "collectives",
                "calls": calls,
                "bytes": size,
            }
            for (why, sent), (calls, size) in sums.items()
        ]
        return sorted(rows, key=lambda row: (-int(row["bytes"]), -int(row["calls"])))
