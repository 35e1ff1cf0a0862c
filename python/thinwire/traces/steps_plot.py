"""What steps took over time, drawn in letters for a terminal."""

import math
from collections.abc import Sequence
from typing import Any

from thinwire.traces import words
from thinwire.traces.charts import nice
from thinwire.traces.steps import WAYS

COLUMNS, ROWS = 60, 8
# Steps that last longer than so many usual ones are marked at the top, which the others need not
# shrink for: a checkpoint takes a hundred of them.
MOST_OF_MEDIAN = 4
_LETTERS = dict(zip(WAYS, "cr", strict=True))
_BOTH, _ABOVE = "*", "^"
_LABEL = 8
MARGIN = _LABEL + len(" |")

Column = dict[str, float | None]


def plot(found: dict[str, Any], width: int = COLUMNS + MARGIN) -> list[str]:
    """The lines of what LongestSteps.done() found, of at most this width but for the title; none if
    there is one moment alone."""
    room = max(1, min(COLUMNS, width - MARGIN))
    columns = _columns(found["over_time"], room)
    known = sorted(value for each in columns for value in each.values() if value is not None)
    if sum(any(value is not None for value in each.values()) for each in columns) < 2:
        return []
    median = known[len(known) // 2]
    is_cut = known[-1] > MOST_OF_MEDIAN * median
    top = nice(2 * median if is_cut else known[-1])
    wide = max(1, room // len(columns))
    drawn = ["".join(wide * _letter(each, row, top) for each in columns) for row in range(ROWS + 1)]
    lines = [_title(found, top if is_cut else None)]
    for row in range(ROWS, -1, -1):
        label = (
            words.seconds(row / ROWS * top) if row in (ROWS, ROWS // 2) else "0" if not row else ""
        )
        inner = f"|{drawn[row]}" if row else f"+{drawn[row]}".replace(" ", "-")
        lines.append(f"{label:>{_LABEL}} {inner}".rstrip())
    until = words.seconds(found["until"])
    return [*lines, f"{'0':>{_LABEL + 3}}{until:>{wide * len(columns) - 1}}"]


def _title(found: dict[str, Any], cut_at: float | None) -> str:
    marks = [f"{_LETTERS[way]} {way}" for way in WAYS if found[way]["number"]]
    marks += [f"{_BOTH} both"] if len(marks) == 2 else []
    marks += [] if cut_at is None else [f"{_ABOVE} above {words.seconds(cut_at)}"]
    return f"Its time on rank {found['rank']} from start to end: {', '.join(marks)}"


def _columns(points: Sequence[dict[str, Any]], most: int) -> list[Column]:
    """Mean seconds a step in each column, of as many points each."""
    a_column = max(1, math.ceil(len(points) / most))
    return [
        {way: _mean(points[at : at + a_column], way) for way in WAYS}
        for at in range(0, len(points), a_column)
    ]


def _mean(points: Sequence[dict[str, Any]], way: str) -> float | None:
    took = [(each[way], each[f"{way}_seconds"]) for each in points if each[way]]
    steps = sum(number for number, _ in took)
    return sum(number * mean for number, mean in took) / steps if steps else None


def _letter(column: Column, row: int, top: float) -> str:
    there = [way for way, value in column.items() if value is not None and _row(value, top) == row]
    if row == ROWS and any(value is not None and value > top for value in column.values()):
        return _ABOVE
    return " " if not there else _BOTH if len(there) == 2 else _LETTERS[there[0]]


def _row(value: float, top: float) -> int:
    return min(ROWS, round(ROWS * value / top))
