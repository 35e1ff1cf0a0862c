"""The demo's chart: seconds of each case over each link, as SVG. It follows from the report's rows
alone, so that a committed chart can be held to the figures beside it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from .report import name_of_case
from .runs import NO_SHIM, SHIM_OFF

WIDTH, PANEL, NAMES, BAR, STEP, HEAD = 760, 380, 92, 18, 28, 44
# Longest bar; right of it stand its seconds and the speed-up.
LONGEST = PANEL - NAMES - 96
COLOURS = {NO_SHIM: "#57606a", SHIM_OFF: "#8c959f", "lossless": "#1a7f64"}
LOSSY = "#2a6fbb"
LOSS = "#b42318"


def write_bars(report: Path, path: Path) -> None:
    """Draws the rows of a report of the demo."""
    path.write_text(bars_of(json.loads(report.read_text())))


def bars_of(rows: list[dict[str, Any]]) -> str:
    """The chart of rows that have `link`, `codec`, `seconds`, `speedup`, `device` and `verified`, a
    panel a link; what is not verified has no bar."""
    links = list(dict.fromkeys(row["link"] for row in rows))
    deepest = max(sum(row["link"] == link for row in rows) for link in links)
    height = HEAD + deepest * STEP + 12
    width = PANEL * len(links)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        f"<title>{escape(_words(rows, links))}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, link in enumerate(links):
        parts += _panel(place * PANEL, link, [row for row in rows if row["link"] == link])
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(left: int, link: str, rows: list[dict[str, Any]]) -> Iterable[str]:
    longest = max(row["seconds"] for row in rows)
    yield f'<text x="{left + 12}" y="26" font-weight="bold">{escape(_name_of_link(link))}</text>'
    for place, row in enumerate(rows):
        y = HEAD + place * STEP
        name = name_of_case(row["codec"], row["device"])
        yield _text(left + NAMES, y, escape(name), "#24292f", ' text-anchor="end"')
        if not row["verified"]:
            yield _text(left + NAMES + 8, y, "not verified", LOSS)
            continue
        length = LONGEST * row["seconds"] / longest
        yield (
            f'<rect x="{left + NAMES + 8}" y="{y}" width="{length:.1f}" height="{BAR}" '
            f'fill="{COLOURS.get(row["codec"], LOSSY)}"/>'
        )
        words = f"{row['seconds']:.2f} s"
        if row["codec"] != NO_SHIM:
            words += f" ({row['speedup']:.2f}x)"
        colour = LOSS if row["speedup"] < 1 else "#24292f"
        yield _text(left + NAMES + 14 + round(length), y, words, colour)


def _text(x: int, y: int, words: str, colour: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y + 14}" fill="{colour}"{more}>{words}</text>'


def _name_of_link(link: str) -> str:
    """As in "100 Mbit/s"; a link without a rate by its own name."""
    for unit in ("mbit", "gbit"):
        if link.endswith(unit):
            return f"{link.removesuffix(unit)} {unit.capitalize()}/s"
    return link


def _words(rows: list[dict[str, Any]], links: list[str]) -> str:
    """The chart in words, for who does not see it."""
    told = []
    for link in links:
        shown = [
            f"{name_of_case(row['codec'], row['device'])} {row['seconds']:.2f} s"
            for row in rows
            if row["link"] == link and row["verified"]
        ]
        told.append(f"{_name_of_link(link)}: {', '.join(shown)}")
    return "Seconds of the wave solver. " + ". ".join(told)
