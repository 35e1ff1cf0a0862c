"""The demo's tables for the terminal. What loses is called a loss."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..bench.layout import print_cells
from .report import Row, case_name
from .runs import GPU, NO_SHIM

ENDLESS = 10_000
NOTABLE_SPREAD = 0.15
HEADINGS = (
    "seconds",
    "MB raw",
    "MB sent",
    "ratio",
    "speed-up",
    "ideal",
    "max err",
    "relative",
)


def verdict(row: Row) -> Text:
    """The speed-up, in words too where it is a loss."""
    if row.codec == NO_SHIM:
        return Text("1.00", style="dim")
    if row.speedup < 1:
        return Text(f"LOSS {row.speedup:.2f}", style="bold red")
    return Text(f"{row.speedup:.2f}", style="green" if row.wire_bytes < row.bytes else "")


def megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}"


def figures(row: Row) -> list[str | Text]:
    """The cells of the row's numbers; a run that is not verified has none to show."""
    if not row.verified:
        return ["-"] * len(HEADINGS)
    return [
        f"{row.seconds:.2f}",
        megabytes(row.bytes),
        megabytes(row.wire_bytes),
        f"{row.ratio:.2f}",
        verdict(row),
        f"{row.ideal_speedup:.2f}",
        f"{row.max_error:.2g}",
        f"{row.relative_error:.2g}",
    ]


def print_rows(console: Console, rows: list[Row]) -> None:
    """The table of one link, or a paragraph a row on a terminal that is too narrow for it."""
    table = build_table(rows)
    needed = console.measure(table, options=console.options.update(width=ENDLESS)).maximum
    if needed <= console.width or not console.is_terminal:
        console.print(table)
        return
    console.print(table.title)
    cells = [[case_name(row), "", *figures(row), ""] for row in rows]
    print_cells(console, ["", "", *HEADINGS, ""], cells)


def build_table(rows: list[Row]) -> Table:
    """The rows of one link, in 80 columns."""
    table = Table(title=f"Link: {rows[0].link}", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("codec", no_wrap=True)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(case_name(row), *figures(row))
    return table


def notes(rows: list[Row]) -> list[Text]:
    """What a reader needs to judge the rows of one link, losses and failures first."""
    found = []
    for row in rows:
        name = case_name(row)
        if not row.verified:
            words = "; ".join(dict.fromkeys(row.problems))
            found.append(Text(f"{name} is NOT VERIFIED: {words}", style="bold red"))
        elif row.codec != NO_SHIM and row.speedup < 1:
            slower = row.seconds / row.raw_seconds - 1
            found.append(
                Text(f"{name} loses: {slower:.1%} slower than {case_name(rows[0])}", style="red")
            )
    spread = max(max(row.repeats) / min(row.repeats) - 1 for row in rows)
    if spread > NOTABLE_SPREAD:
        words = f"Repeats of one run differ by up to {spread:.0%}: this machine was not quiet."
        found.append(Text(words, style="yellow"))
    return [*found, *_device_notes(rows), *_link_notes(rows)]


def _device_notes(rows: list[Row]) -> list[Text]:
    """What is different on GPUs: the baseline, and what the ideal is made of."""
    if rows[0].device != GPU:
        return []
    bases = ", ".join(dict.fromkeys(row.ideal_basis for row in rows if row.ideal_basis))
    words = (
        "On GPUs: staged copies messages through pinned memory by hand, codec off leaves that to "
        f"Thinwire. The ideal has in it: {bases or 'nothing'}."
    )
    return [Text(words)]


def _link_notes(rows: list[Row]) -> list[Text]:
    first = rows[0]
    if not first.burst_bytes:
        rate = first.raw_link_rate / 1e6
        words = f"No slow link here: the ideal takes the {rate:.0f} MB/s that the raw run reached."
        return [Text(words)]
    explained = (
        f"The bare link carried {first.raw_link_rate * 8 / 1e6:.0f} Mbit/s; at that rate the bytes "
        f"explain {first.link_share:.0%} of the raw run's communication"
    )
    if first.link_share < 0.8:
        explained += ": the ideal, which takes all of it for the link's, is too high"
    found = [Text(explained + ".")]
    bounds = [
        f"{row.speedup_without_bursts:.2f} for {row.codec}"
        for row in rows
        if row.verified and row.wire_bytes < row.bytes
    ]
    if bounds:
        found.append(
            Text(
                f"Token bucket of {first.burst_bytes} bytes, {first.drops} packets dropped; "
                f"without bursts the speed-up is at least {', '.join(bounds)}."
            )
        )
    return found
