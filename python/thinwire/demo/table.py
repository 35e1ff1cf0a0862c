"""The demo's table for the terminal. What loses is called a loss."""

from rich.table import Table
from rich.text import Text

from .report import Row
from .runs import NO_SHIM, SHIM_OFF

CODEC_WORDS = {NO_SHIM: "no shim", SHIM_OFF: "shim switched off"}
HEADINGS = (
    "seconds",
    "MB asked for",
    "MB on the wire",
    "ratio",
    "speed-up",
    "ideal",
    "max error",
    "relative",
)


def verdict(row: Row) -> Text:
    """What the row amounts to, in words and colour."""
    if not row.verified:
        return Text("NOT VERIFIED: " + "; ".join(dict.fromkeys(row.problems)), style="bold red")
    if row.codec == NO_SHIM:
        return Text("baseline", style="dim")
    if row.speedup < 1:
        return Text(f"loss, {row.seconds / row.raw_seconds - 1:.1%} slower", style="red")
    return Text(f"{row.speedup:.2f}x as fast", style="green" if row.wire_bytes < row.bytes else "")


def megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}"


def figures(row: Row) -> list[str | Text]:
    """The cells of the row's numbers; a run that is not verified has none to show."""
    if not row.verified:
        return ["-"] * len(HEADINGS)
    lost = row.codec != NO_SHIM and row.speedup < 1
    return [
        f"{row.seconds:.2f}",
        megabytes(row.bytes),
        megabytes(row.wire_bytes),
        f"{row.ratio:.2f}",
        Text(f"{row.speedup:.2f}", style="red" if lost else ""),
        f"{row.ideal_speedup:.2f}",
        f"{row.max_error:.2g}",
        f"{row.relative_error:.2g}",
    ]


def build_table(rows: list[Row]) -> Table:
    """One line per row, a rule between links."""
    table = Table(title="One MPI program, raw and compressed")
    table.add_column("link")
    table.add_column("codec")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for index, row in enumerate(rows):
        last_of_link = index + 1 == len(rows) or rows[index + 1].link != row.link
        table.add_row(
            row.link,
            CODEC_WORDS.get(row.codec, row.codec),
            *figures(row),
            verdict(row),
            end_section=last_of_link,
        )
    return table


def footnotes(rows: list[Row]) -> list[str]:
    """What a reader needs to judge the rows of each link."""
    notes = []
    for link in dict.fromkeys(row.link for row in rows):
        row = next(row for row in rows if row.link == link)
        note = (
            f"{link}: {row.raw_link_rate * 8 / 1e6:.0f} Mbit/s reached raw; bytes over rate "
            f"explain {row.link_share:.0%} of the raw run's communication"
        )
        if row.burst_bytes:
            worst = max(other.burst_share for other in rows if other.link == link)
            note += (
                f"; token bucket of {row.burst_bytes} bytes (up to {worst:.0%} of a run's bytes), "
                f"{row.drops} dropped packets"
            )
        notes.append(note)
    return notes
