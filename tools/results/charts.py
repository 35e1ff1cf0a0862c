"""Charts of a page as SVG, from the rows that its tables show; readable on light and dark pages.

rows, where   as of a table
label         columns whose cells name a row
series        the columns to draw, each a name or [name, what the legend says]
axis          what the numbers are, with their unit
title         what the chart answers
kind          "bars", or "dots": a row for each label, a dot for each number
line          {at = 1, says = "native"}: a line to compare with
most          where the axis ends; longer bars are cut, and say their number
plain         series that are not compressed, which are gray
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape

from results.rows import BadData, Row, number
from results.tables import pairs

WIDTH, BAR, GAP, TOP, FOOT, LETTER = 760, 13, 10, 34, 44, 7.4
STYLE = """<style>
.page{fill:#fff}.text{fill:#24292f}.faint{fill:#57606a}.grid{stroke:#d0d7de}.mark{stroke:#b42318}
.p0{fill:#6e7781}.p1{fill:#afb8c1}.s0{fill:#1a7f64}.s1{fill:#2a6fbb}.s2{fill:#b35900}.s3{fill:#8250df}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}.text{fill:#e6edf3}.faint{fill:#9198a1}
.grid{stroke:#3d444d}.mark{stroke:#f85149}.p0{fill:#8b949e}.p1{fill:#57606a}
.s0{fill:#2ea583}.s1{fill:#58a6ff}.s2{fill:#e3913a}.s3{fill:#a371f7}}
</style>"""


@dataclass(frozen=True)
class Scale:
    """From a number to where it lies on the page."""

    left: float
    right: float
    most: float

    def at(self, value: float) -> float:
        return self.left + (self.right - self.left) * min(value, self.most) / self.most


def step_of(most: float) -> float:
    """A round distance of ticks, of which about six fit."""
    power = 10.0 ** (len(str(int(most))) - 2) if most >= 1 else 0.01
    steps = [each * power * ten for ten in (0.1, 1, 10) for each in (1, 2, 5)]
    return next((each for each in steps if most / each <= 7), steps[-1])


def text(x: float, y: float, said: str, kind: str = "text", end: str = "") -> str:
    anchor = f' text-anchor="{end}"' if end else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{anchor}>{escape(said)}</text>'


def classes_of(spec: dict[str, Any], series: list[tuple[str, str]]) -> list[str]:
    plain, found, many = spec.get("plain", []), [], [0, 0]
    for name, _ in series:
        kind = int(name not in plain)
        found.append(f"{'ps'[kind]}{many[kind]}")
        many[kind] += 1
    return found


def legend(series: list[tuple[str, str]], kinds: list[str], left: float) -> list[str]:
    made, x = [], left
    for (_, said), kind in zip(series, kinds, strict=True):
        made.append(f'<rect class="{kind}" x="{x:.1f}" y="32" width="11" height="11"/>')
        made.append(text(x + 16, 42, said))
        x += 34 + LETTER * len(said)
    return made


def frame(spec: dict[str, Any], scale: Scale, top: float, bottom: float) -> list[str]:
    """Ticks, the axis' name, and the line to compare with."""
    made, step = [], step_of(scale.most)
    for tick in range(int(scale.most / step + 1e-9) + 1):
        x = scale.at(tick * step)
        made.append(f'<path class="grid" d="M{x:.1f} {top:.0f}V{bottom:.0f}"/>')
        made.append(text(x, bottom + 15, f"{tick * step:g}", "faint", "middle"))
    made.append(text((scale.left + scale.right) / 2, bottom + 34, spec["axis"], "text", "middle"))
    return made


def compared(spec: dict[str, Any], scale: Scale, top: float, bottom: float) -> list[str]:
    if "line" not in spec:
        return []
    x, said = scale.at(float(spec["line"]["at"])), spec["line"]["says"]
    path = f'<path class="mark" stroke-dasharray="4 3" d="M{x:.1f} {top:.0f}V{bottom:.0f}"/>'
    # The words lie on the side where there is room.
    left = x > WIDTH * 0.7
    return [path, text(x - 4 if left else x + 4, top + 1, said, "faint", "end" if left else "")]


def label_of(spec: dict[str, Any], row: Row) -> str:
    return ", ".join(row[name] for name in spec["label"] if row[name])


def as_svg(spec: dict[str, Any], rows: list[Row]) -> str:
    series = pairs(spec["series"])
    groups: dict[str, list[list[Decimal | None]]] = {}
    for row in rows:
        values = [number(row[name]) for name, _ in series]
        groups.setdefault(label_of(spec, row), []).append(values)
    found = [each for many in groups.values() for one in many for each in one if each is not None]
    dots = spec.get("kind") == "dots"
    if not found or min(found) < 0 or (not dots and len(groups) != len(rows)):
        raise BadData(f"the chart `{spec['title']}` has no numbers, negative ones, or labels twice")
    left = 16 + LETTER * max(len(each) for each in groups)
    most = float(spec.get("most", max(max(found), Decimal(str(spec.get("line", {}).get("at", 0))))))
    scale = Scale(left, WIDTH - 66.0, most)
    tall = BAR + GAP if dots else BAR * len(series) + GAP
    top = TOP + (20 if len(series) > 1 else 4)
    bottom = top + tall * len(groups) + 4
    kinds = classes_of(spec, series)
    draw = dotted if dots else barred
    body = [
        line
        for at, (label, many) in enumerate(groups.items())
        for line in draw(label, many, kinds, scale, top + 6 + at * tall)
    ]
    height = bottom + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(spec['title'])}</title>",
        STYLE,
        f'<rect class="page" width="{WIDTH}" height="{height:.0f}"/>',
        f'<text class="text" x="12" y="20" font-weight="bold">{escape(spec["title"])}</text>',
        *(legend(series, kinds, 12) if len(series) > 1 else []),
        *frame(spec, scale, top, bottom),
        *body,
        *compared(spec, scale, top, bottom),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def barred(
    label: str, many: list[list[Decimal | None]], kinds: list[str], scale: Scale, y: float
) -> list[str]:
    values = many[0]
    made = [text(scale.left - 8, y + BAR * len(values) / 2 + 4, label, "text", "end")]
    for at, (value, kind) in enumerate(zip(values, kinds, strict=True)):
        if value is None:
            continue
        x, row = scale.at(float(value)), y + at * BAR
        box = f'x="{scale.left:.1f}" y="{row:.1f}" width="{x - scale.left:.1f}" height="{BAR - 2}"'
        made.append(f'<rect class="{kind}" {box}/>')
        made.append(text(x + 4, row + BAR - 3, str(value), "faint"))
    return made


def dotted(
    label: str, many: list[list[Decimal | None]], kinds: list[str], scale: Scale, y: float
) -> list[str]:
    made = [text(scale.left - 8, y + 10, label, "text", "end")]
    for values in many:
        for value, kind in zip(values, kinds, strict=True):
            if value is None:
                continue
            cut = float(value) > scale.most
            x = scale.at(float(value))
            made.append(
                f'<circle class="{kind}" cx="{x:.1f}" cy="{y + 6:.1f}" r="4" opacity=".75"/>'
            )
            if cut:
                made.append(text(x + 7, y + 10, str(value), "faint"))
    return made
