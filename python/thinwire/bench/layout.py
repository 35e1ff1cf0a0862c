"""Tables and lines that fit the terminal: nothing is cut off, whatever its width."""

import textwrap
from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

Cells = Sequence[str | Text]

# The least width of the last column, a remark that may be folded.
REMARK_WIDTH = 20
# The least width of lines after the first, else they begin further to the left.
_HANGING_WIDTH = 40
_INDENT = "    "
_GAP = "   "
_ENDLESS = 10_000


def print_wrapped(text: str, indent: str = "", hanging: str = "") -> None:
    """One paragraph on standard output, folded between words on a terminal, which folds longer
    words such as paths itself; one line if it is piped."""
    console = Console()
    if not console.is_terminal:
        print(indent + text)
        return
    if len(hanging) > len(_INDENT) and console.width - len(hanging) < _HANGING_WIDTH:
        hanging = _INDENT
    print(
        textwrap.fill(
            text,
            console.width,
            initial_indent=indent,
            subsequent_indent=hanging or indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def print_cells(console: Console, headings: Sequence[str], rows: Sequence[Cells]) -> None:
    """Rows of cells under headings: the first two are names, the last a remark, the others figures.

    As a table if the terminal is wide enough for it, else with the words of headings above each
    other, else as a paragraph for each row. What is piped is a table of any width.
    """
    plain = _table(headings, rows)
    if not console.is_terminal:
        console = Console(file=console.file, width=max(console.width, _width(plain)))
        console.print(plain)
        return
    folded = _table([heading.replace(" ", "\n") for heading in headings], rows)
    for table in (plain, folded):
        if _width(table, REMARK_WIDTH) <= console.width:
            console.print(table)
            return
    for cells in rows:
        _print_paragraph(console, headings, cells)


def _table(headings: Sequence[str], rows: Sequence[Cells]) -> Table:
    table = Table(box=None)
    last = len(headings) - 1
    for index, heading in enumerate(headings):
        side: Literal["left", "right"] = "left" if index < 2 or index == last else "right"
        table.add_column(heading, justify=side, no_wrap=index != last, vertical="top")
    for cells in rows:
        table.add_row(*cells)
    return table


def _width(table: Table, remark: int | None = None) -> int:
    """The columns that it needs, its last one taken for no wider than `remark`."""
    wide = Console(width=_ENDLESS)
    last = table.columns[-1]
    whole = Measurement.get(wide, wide.options, table).maximum
    if remark is None:
        return whole
    cells = [Measurement.get(wide, wide.options, cell).maximum for cell in last.cells]
    return whole - max(0, max(cells, default=0) - remark)


def _print_paragraph(console: Console, headings: Sequence[str], cells: Cells) -> None:
    """The names, then "heading figure" pairs, which are folded inside only if one alone is too
    long, then the remark."""
    _print_folded(console, Text("  ").join(_text(cell) for cell in cells[:2]), indent="")
    line = Text()
    for heading, cell in zip(headings[2:-1], cells[2:-1], strict=True):
        pair = Text.assemble(heading, " ", cell)
        needed = len(_INDENT) + line.cell_len + len(_GAP) + pair.cell_len
        if line and needed > console.width:
            _print_folded(console, line, _INDENT)
            line = Text()
        line = Text.assemble(line, _GAP, pair) if line else pair
    for text in (line, _text(cells[-1])):
        if text:
            _print_folded(console, text, _INDENT)


def _print_folded(console: Console, text: Text, indent: str) -> None:
    for line in text.wrap(console, max(1, console.width - len(indent))):
        line.rstrip()
        console.print(Text(indent) + line, soft_wrap=True)


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)
