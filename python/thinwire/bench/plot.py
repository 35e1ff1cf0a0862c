"""Ratio against speed as an SVG: a panel for each array, a codec's encode and decode in it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

PLOT_WIDTH, LABELS_WIDTH = 330, 130
LEFT, TOP, BOTTOM, GAP = 52, 30, 44, 18
LEAST_HEIGHT, LINE = 200, 13
COLUMNS = 2
HEADING = 46

# Colours that keep a contrast of 4.5:1 on their paper: (light, dark).
PALETTE = (
    ("#0b62c4", "#6cb0ff"),
    ("#b3460e", "#f0914f"),
    ("#13773d", "#56c67d"),
    ("#8a2fb0", "#cf8ef0"),
    ("#a8254f", "#f4819f"),
    ("#0a7482", "#4cc4d2"),
    ("#7a5c00", "#d9b73a"),
    ("#5b5f66", "#a9b0ba"),
)

STYLE = """
text { font: 11px system-ui, sans-serif; fill: var(--ink) }
.title { font-size: 13px; font-weight: 600 }
.quiet { fill: var(--quiet) }
.paper { fill: var(--paper) }
.grid { stroke: var(--grid); stroke-width: 1 }
.leader { stroke: var(--quiet); stroke-width: 0.5; fill: none }
.pair { stroke-width: 1; opacity: 0.6 }
"""


@dataclass(frozen=True)
class Mark:
    """One codec on one array."""

    spec: str
    encode: float
    decode: float
    ratio: float


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis from `low` to `high` on pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps: tuple[float, ...] = (1, 2, 5) if self.high / self.low < 300 else (1,)
        if self.high / self.low < 4:
            steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7)
        found = [step * 10.0**decade for decade in decades for step in steps]
        return [tick for tick in found if self.low <= tick <= self.high * (1 + 1e-9)]


def panels_of(rows: Sequence[Any]) -> dict[str, list[Mark]]:
    """The verified rows of each array in its largest size; a codec once, in the shape that serves
    it best."""
    shown: dict[str, list[Mark]] = {}
    verified = [row for row in rows if row.verified and row.decode_gb_per_second]
    for name, dtype in dict.fromkeys((row.data, row.dtype) for row in verified):
        of_data = [row for row in verified if (row.data, row.dtype) == (name, dtype)]
        largest = max(row.bytes for row in of_data)
        best: dict[str, Any] = {}
        for row in sorted((row for row in of_data if row.bytes == largest), key=lambda r: r.ratio):
            best[row.codec] = row
        shown[f"{name} {dtype}, {largest / 1e6:.4g} MB"] = [
            Mark(row.codec, row.encode_gb_per_second, row.decode_gb_per_second, row.ratio)
            for row in best.values()
        ]
    return shown


def draw(rows: Sequence[Any]) -> str:
    """The SVG. ValueError if no row can be shown."""
    panels = panels_of(rows)
    if not panels:
        raise ValueError("no verified row to plot")
    names = dict.fromkeys(
        mark.spec.partition(":")[0] for marks in panels.values() for mark in marks
    )
    colours = {name: index % len(PALETTE) for index, name in enumerate(names)}
    speeds = [s for marks in panels.values() for m in marks for s in (m.encode, m.decode)]
    most = max(len(marks) for marks in panels.values())
    height = max(LEAST_HEIGHT, LINE * most)
    columns = min(COLUMNS, len(panels))
    whole = (LEFT + PLOT_WIDTH + LABELS_WIDTH + GAP, TOP + height + BOTTOM)
    parts = [_heading()]
    for index, (title, marks) in enumerate(panels.items()):
        x, y = index % columns * whole[0], HEADING + index // columns * whole[1]
        inside = _panel(title, marks, colours, (min(speeds), max(speeds)), height)
        parts.append(f'<g transform="translate({x} {y})">{inside}</g>')
    size = (columns * whole[0], HEADING + -(-len(panels) // columns) * whole[1])
    return document(size, parts)


def document(size: tuple[int, int], parts: list[str]) -> str:
    """An SVG of so many pixels, whose colours are the palette's `--c0` and so on."""
    light = "".join(f"--c{index}:{pair[0]};" for index, pair in enumerate(PALETTE))
    dark = "".join(f"--c{index}:{pair[1]};" for index, pair in enumerate(PALETTE))
    light += "--ink:#1f2328;--quiet:#59636e;--grid:#e3e7eb;--paper:#ffffff"
    dark += "--ink:#e6edf3;--quiet:#9198a1;--grid:#2f363d;--paper:#0d1117"
    style = f"svg {{{light}}} @media (prefers-color-scheme: dark) {{ svg {{{dark}}} }}{STYLE}"
    box = f'viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">\n<style>{style}</style>\n'
        f'<rect class="paper" width="{size[0]}" height="{size[1]}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _heading() -> str:
    return (
        f'<text class="title" x="{LEFT}" y="20">Ratio against speed</text>'
        f'<circle cx="{LEFT + 5}" cy="34" r="4" fill="var(--ink)"/>'
        f'<text class="quiet" x="{LEFT + 14}" y="38">encode</text>'
        f'<circle cx="{LEFT + 75}" cy="34" r="3.5" fill="var(--paper)" stroke="var(--ink)"'
        f' stroke-width="1.5"/><text class="quiet" x="{LEFT + 84}" y="38">decode</text>'
    )


def _panel(
    title: str,
    marks: list[Mark],
    colours: dict[str, int],
    speeds: tuple[float, float],
    height: float,
) -> str:
    ratios = [mark.ratio for mark in marks]
    across = Scale(speeds[0] / 1.3, speeds[1] * 1.3, LEFT, LEFT + PLOT_WIDTH)
    upward = Scale(min(0.97, *ratios, 1) * 0.97, max(1.3, *ratios, 1) * 1.06, TOP + height, TOP)
    parts = [f'<text class="title" x="{LEFT}" y="{TOP - 10}">{escape(title)}</text>']
    parts += _grid(across, upward, height)
    heights = _spread([upward.at(mark.ratio) for mark in marks], TOP + 4, TOP + height)
    for mark, label_y in zip(marks, heights, strict=True):
        colour = f"var(--c{colours[mark.spec.partition(':')[0]]})"
        parts.append(_mark(mark, across, upward, label_y, colour))
    return "".join(parts)


def _grid(across: Scale, upward: Scale, height: float) -> list[str]:
    parts, bottom, right = [], TOP + height, LEFT + PLOT_WIDTH
    for tick in across.ticks():
        x = f"{across.at(tick):.1f}"
        parts.append(f'<path class="grid" d="M{x} {TOP}V{bottom}"/>')
        parts.append(
            f'<text class="quiet" x="{x}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>'
        )
    for tick in upward.ticks():
        y = upward.at(tick)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(
            f'<text class="quiet" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    middle = TOP + height / 2
    parts.append(
        f'<text class="quiet" x="{LEFT + PLOT_WIDTH / 2}" y="{bottom + 30}" text-anchor="middle">'
        f"GB/s of uncompressed data</text>"
        f'<text class="quiet" transform="translate(14 {middle}) rotate(-90)" '
        f'text-anchor="middle">ratio</text>'
    )
    return parts


def _mark(mark: Mark, across: Scale, upward: Scale, label_y: float, colour: str) -> str:
    y = upward.at(mark.ratio)
    first, second = across.at(mark.encode), across.at(mark.decode)
    right, labels = max(first, second) + 5, LEFT + PLOT_WIDTH + 10
    what = f"{mark.spec}: ratio {mark.ratio:.3f}, {mark.encode:.4g} / {mark.decode:.4g} GB/s"
    return (
        f"<g><title>{escape(what)}</title>"
        f'<path class="leader" d="M{right:.1f} {y:.1f}L{labels - 3} {label_y:.1f}"/>'
        f'<path class="pair" stroke="{colour}" d="M{first:.1f} {y:.1f}H{second:.1f}"/>'
        f'<circle cx="{first:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        f'<circle cx="{second:.1f}" cy="{y:.1f}" r="3.5" fill="var(--paper)" stroke="{colour}"'
        f' stroke-width="1.5"/>'
        f'<text x="{labels}" y="{label_y + 4:.1f}" style="fill:{colour}">{escape(mark.spec)}</text>'
        "</g>"
    )


def _spread(wanted: list[float], top: float, bottom: float) -> list[float]:
    """Heights for labels near the wanted ones, none closer to another than a line."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    placed = list(wanted)
    above = top - LINE
    for index in order:
        placed[index] = above = max(wanted[index], above + LINE)
    below = bottom + LINE
    for index in reversed(order):
        placed[index] = below = min(placed[index], below - LINE)
    return placed
