"""The demo's tables for the terminal. What loses is called a loss."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..bench.layout import print_cells
from .engine import Session
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
    "at most",
    "error",
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
        f"{row.speedup_limit:.2f}",
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


def heading(session: Session) -> str:
    """What is about to run, for who has not read a page of it."""
    size = session.size
    megabytes_of_halo = 4 * size.nx * size.ny * 4 / 1e6
    where = "GPUs" if session.device == GPU else "processors"
    return (
        f"A program that knows nothing of Thinwire: waves in a volume of {size.nx} x {size.ny} x "
        f"{size.nz} points, {size.steps} time steps, half of the volume on the {where} of each of "
        "two hosts. After each step the hosts send each other their edges, "
        f"{megabytes_of_halo:.1f} MB each way. The hosts are emulated on this machine; the link "
        "between them is as slow as stated."
    )


def legend(session: Session) -> list[str]:
    """What the rows and columns are, a line each."""
    if session.device == GPU:
        first = "staged       the program copies messages through pinned memory; no Thinwire"
        second = "codec off    Thinwire takes pointers to GPU memory, and sends all raw"
    else:
        first = "native       the program alone"
        second = "codec off    under Thinwire, which is told to send all raw"
    fastest = "of one run" if session.repeats == 1 else f"the fastest of {session.repeats} runs"
    return [
        first,
        second,
        "lossless     compressed, and every bit of the result the same",
        "zfp:rate=16  lossy: each value in 16 of its 32 bits; zfp:rate=8 in 8",
        f"seconds      {fastest}",
        "speed-up     seconds of the first row by those of this one; below 1 is a loss",
        "at most      the speed-up if messages took no time at all",
        "error        the largest of the result, by the result's largest value",
    ]


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
    return [*found, *_link_notes(rows)]


def _link_notes(rows: list[Row]) -> list[Text]:
    first = rows[0]
    if not first.burst_bytes:
        rate = first.raw_link_rate / 1e6
        words = f"No slow link here, so nothing to gain: the raw run reached {rate:.0f} MB/s."
        return [Text(words)]
    explained = (
        f"The bare link carried {first.raw_link_rate * 8 / 1e6:.0f} Mbit/s; at that rate the bytes "
        f"explain {first.link_share:.0%} of the raw run's communication"
    )
    if first.link_share < 0.8:
        explained += ": the rest is no matter of bytes, as waiting for the other host"
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
