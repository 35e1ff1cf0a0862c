"""Charts as SVG that a page of any width shows, in colours that its style names."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thinwire.traces import words

WIDTH, HEIGHT = 360, 170
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 10, 22


@dataclass(frozen=True)
class Line:
    name: str
    colour: str  # a class of the style: "a", "b" or "c"
    values: Sequence[float | None]  # None: a gap


def nice(most: float) -> float:
    """The least of 1, 2, 2.5, 5 times a power of ten that is not below."""
    if most <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= most * 0.999)


def _nice_for(most: float, shown: Callable[[float], str]) -> float:
    """The same in the units that sizes are shown in."""
    unit = 1024.0 ** int(math.log(max(most, 1), 1024)) if shown is words.size else 1.0
    return unit * nice(most / unit)


def _svg(height: int, title: str, inner: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words.text(title)}">'
        f"{inner}</svg>"
    )


def _label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words.text(text)}</text>'


def _frame(top: float, shown: Callable[[float], str]) -> str:
    parts = []
    for part in (0.0, 0.5, 1.0):
        y = HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_label(LEFT - 5, y + 3.5, shown(part * top), "end"))
    return "".join(parts)


def legend(lines: Sequence[tuple[str, str]]) -> str:
    """Of names and colours."""
    keys = "".join(
        f'<span><i class="key {colour}"></i>{words.text(name)}</span>' for name, colour in lines
    )
    return f'<p class="legend">{keys}</p>'


def over_time(
    title: str, until: float, lines: Sequence[Line], shown: Callable[[float], str]
) -> str:
    """One value a step of time."""
    known = [value for line in lines for value in line.values if value is not None]
    top = _nice_for(max(known, default=0), shown)
    parts = [_frame(top, shown)]
    for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = LEFT + part * (WIDTH - LEFT - RIGHT)
        parts.append(_label(x, HEIGHT - 7, words.seconds(part * until) if part else "0", anchor))
    parts += [_path(line, top) for line in lines]
    return _svg(HEIGHT, title, "".join(parts))


def _path(line: Line, top: float) -> str:
    width = (WIDTH - LEFT - RIGHT) / max(1, len(line.values))
    points, moves = [], True
    for at, value in enumerate(line.values):
        if value is None:
            moves = True
            continue
        x = LEFT + (at + 0.5) * width
        y = HEIGHT - BOTTOM - min(1.0, value / top) * (HEIGHT - TOP - BOTTOM)
        points.append(f"{'M' if moves else 'L'}{x:.1f} {y:.1f}")
        if moves:  # a point alone is seen too
            points.append("h0.1")
        moves = False
    return f'<path class="line {line.colour}" d="{"".join(points)}"/>'


def bars(
    title: str,
    names: Sequence[str],
    stacks: Sequence[tuple[str, str, Sequence[float]]],
    shown: Callable[[float], str],
) -> str:
    """Bars of parts one above the other; a part has a name, a colour and a value a bar."""
    sums = [sum(values[at] for _, _, values in stacks) for at in range(len(names))]
    top = _nice_for(max(sums, default=0), shown)
    parts = [_frame(top, shown)]
    width = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    every = max(1, math.ceil(len(names) / 7))
    for at, name in enumerate(names):
        x, y = LEFT + at * width, float(HEIGHT - BOTTOM)
        for part, colour, values in stacks:
            tall = values[at] / top * (HEIGHT - TOP - BOTTOM)
            y -= tall
            parts.append(
                f'<rect class="{colour}" x="{x + 0.08 * width:.1f}" y="{y:.1f}" '
                f'width="{0.84 * width:.1f}" height="{tall:.1f}"><title>{words.text(name)}: '
                f"{shown(values[at])} {words.text(part)}</title></rect>"
            )
        if at % every == 0:
            parts.append(_label(x + width / 2, HEIGHT - 7, name))
    return _svg(HEIGHT, title, "".join(parts))


def matrix(title: str, names: Sequence[str], pairs: Sequence[Sequence[int]], what: str) -> str:
    """Bytes from each row to each column: the darker the more, by powers."""
    side = WIDTH - LEFT - RIGHT
    step = side / max(1, len(names))
    most = max((pair[3] for pair in pairs), default=1) or 1
    parts = [f'<rect class="empty" x="{LEFT}" y="{TOP + 12}" width="{side}" height="{side}"/>']
    for source, target, calls, raw, wire in pairs:
        # The least that is shown is a thousandth of the most.
        depth = max(0.0, 1 + math.log10(max(raw, 1) / most) / 3)
        parts.append(
            f'<rect class="a" fill-opacity="{0.12 + 0.88 * depth:.2f}" '
            f'x="{LEFT + target * step:.2f}" y="{TOP + 12 + source * step:.2f}" '
            f'width="{max(0.5, step - 0.6):.2f}" height="{max(0.5, step - 0.6):.2f}"><title>'
            f"{what} {words.text(names[source])} to {words.text(names[target])}: "
            f"{words.count(calls)} messages, {words.size(raw)} sent as {words.size(wire)}"
            "</title></rect>"
        )
    labels = _labels(names)
    every = max(1, math.ceil(len(names) / 12))
    for at in range(0, len(names), every):
        centre = at * step + step / 2
        parts.append(_label(LEFT + centre, TOP + 8, _short(labels[at], 0.9 * step * every)))
        parts.append(_label(LEFT - 5, TOP + 15.5 + centre, _short(labels[at], LEFT - 8), "end"))
    return _svg(TOP + 12 + side + 8, title, "".join(parts))


def _labels(names: Sequence[str]) -> list[str]:
    """What tells the names apart: without what all begin and end with, figures left whole."""
    shared = os.path.commonprefix(list(names)).rstrip("0123456789")
    rest = [name[len(shared) :] for name in names]
    ends = os.path.commonprefix([name[::-1] for name in rest]).rstrip("0123456789")
    cut = [name[: len(name) - len(ends)] for name in rest]
    return cut if len(names) > 1 and all(cut) else list(names)


def _short(name: str, room: float) -> str:
    most = max(2, int(room / 6.5))
    return name if len(name) <= most else name[: most - 1] + "…"
