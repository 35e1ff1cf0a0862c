"""Rows of results: what failed becomes one, and all go to standard output, as a table for
people, or CSV or JSON for programs. Progress to stderr."""

import csv
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any, TypeVar

from rich.console import Console
from rich.text import Text

from thinwire.bench.layout import print_cells

BUSY_SHARE = 0.5

Column = tuple[str, Callable[[Any], str | Text]]

# The console for everything that is no result.
messages = Console(stderr=True, emoji=False)


def say(text: str) -> None:
    """A line for the user, on standard error."""
    messages.print(text, highlight=False, markup=False, soft_wrap=True)


def warn_if_busy() -> None:
    """Tells the user when other work takes the processors that a benchmark needs."""
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    if load > BUSY_SHARE * processors:
        say(f"WARNING: load {load:.1f} on {processors} processors: the figures will be rough")


def number(value: float | None, form: str) -> str:
    """A figure in a format such as ".2f"; a dash for a figure that there is not."""
    return "-" if value is None else format(value, form)


def print_json(rows: Sequence[Any]) -> None:
    """A list of objects, one per row (a dataclass)."""
    print(json.dumps([asdict(row) for row in rows], indent=2))


def print_csv(rows: Sequence[Any]) -> None:
    """One line per row (a dataclass) under a heading; values without a figure are empty."""
    if not rows:
        return
    writer = csv.DictWriter(sys.stdout, [field.name for field in fields(rows[0])])
    writer.writeheader()
    for row in rows:
        writer.writerow(asdict(row))


def print_table(rows: Sequence[Any], columns: Sequence[Column], notes: Sequence[str] = ()) -> None:
    """One entry per row: two columns of names, figures, and a remark, which alone may be folded."""
    console = Console()
    headings = [heading for heading, _ in columns]
    print_cells(console, headings, [[cell(row) for _, cell in columns] for row in rows])
    for note in notes:
        console.print(note, highlight=False, markup=False, soft_wrap=not console.is_terminal)


Row = TypeVar("Row")

# The end of what a program said, which names the cause.
_NOTE_LENGTH = 300
_EMPTY = {"str": "-", "int": 0, "bool": False, "list[str]": []}


def failed_row(kind: type[Row], error: object, **known: Any) -> Row:
    """A row of this dataclass with `known` and without figures, not verified; its note is the
    error, in one line."""
    words = " ".join(str(error).split())
    if len(words) > _NOTE_LENGTH:
        words = f"{words[:60]} ... {words[-_NOTE_LENGTH + 60 :]}"
    values = {
        field.name: _EMPTY.get(getattr(field.type, "__name__", str(field.type)))
        for field in fields(kind)  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING
    }
    return kind(**{**values, "verified": False, **known, "note": f"failed: {words}"})
