"""The demo's picture: speed-ups beside their ideals, and what compression did to the field."""

from pathlib import Path
from typing import Any, cast

import numpy as np

from .report import Row, case_name
from .runs import CODECS, NO_SHIM, SHIM_OFF

COLOURS = {SHIM_OFF: "#8a8f98", CODECS[0]: "#2a6fbb", CODECS[1]: "#e07b39"}


def draw(rows: list[Row], fields: dict[str, np.ndarray], path: Path) -> None:
    """Writes the picture as PNG. `fields` holds [z][y][x] arrays by codec, the raw one included."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"font.size": 10, "axes.titlesize": 11}):
        figure = plt.figure(figsize=(12, 7.6), layout="constrained")
        top, bottom = cast(Any, figure.subfigures(2, 1, height_ratios=[1.2, 1]))
        _draw_bars(top, rows)
        _draw_fields(bottom, fields)
        figure.savefig(path, dpi=130)
        plt.close(figure)


def _draw_bars(figure, rows: list[Row]) -> None:
    links = list(dict.fromkeys(row.link for row in rows))
    figure.suptitle("Speed-up against the same program without compression")
    for axes, link in zip(np.atleast_1d(figure.subplots(1, len(links))), links, strict=True):
        shown = [row for row in rows if row.link == link and row.codec != NO_SHIM and row.verified]
        _draw_link(axes, shown)
        axes.set_title(link)


def _draw_link(axes, rows: list[Row]) -> None:
    width = 0.36
    for place, row in enumerate(rows):
        colour = COLOURS[row.codec]
        measured = axes.bar(place - width / 2, row.speedup, width, color=colour)
        words = f"{row.speedup:.2f}" + ("\nloss" if row.speedup < 1 else "")
        axes.bar_label(measured, labels=[words], padding=2, fontweight="bold")
        if row.speedup_without_bursts < row.speedup:
            middle = place - width / 2
            axes.plot([middle] * 2, [row.speedup_without_bursts, row.speedup], "k_-", lw=1)
        ideal = axes.bar(
            place + width / 2, row.ideal_speedup, width, fill=False, edgecolor=colour, hatch="///"
        )
        axes.bar_label(ideal, labels=[f"{row.ideal_speedup:.2f}"], padding=2)
    axes.axhline(1, color="black", linewidth=1, linestyle="--")
    axes.set_xticks(range(len(rows)), [case_name(row) for row in rows])
    axes.set_ylim(0, 1.22 * max([1.0, *(max(row.speedup, row.ideal_speedup) for row in rows)]))
    axes.set_ylabel("filled: measured (line: bound without bursts)\nhatched: ideal")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_fields(figure, fields: dict[str, np.ndarray]) -> None:
    lossy = CODECS[-1]
    raw, coded = (_vertical_slice(fields[codec]) for codec in (NO_SHIM, lossy))
    peak = float(np.max(np.abs(fields[NO_SHIM]))) or 1.0
    error = (coded - raw) / peak
    # Wave fronts far from the source are weak, and so is all but a few points of the error: both
    # colour scales end below their largest values, which the table has.
    signal, bound = 0.25, float(np.percentile(np.abs(error), 99.5)) or 1.0
    panels = [
        ("without compression", raw / peak, "seismic", signal),
        (lossy, coded / peak, "seismic", signal),
        (f"error of {lossy}", error, "PuOr", bound),
    ]
    figure.suptitle("Vertical slice of the wavefield after the last step, in units of its peak")
    for axes, (title, values, colours, limit) in zip(figure.subplots(1, 3), panels, strict=True):
        image = axes.imshow(values, cmap=colours, vmin=-limit, vmax=limit, aspect="equal")
        axes.set_title(title)
        axes.set_xlabel("x")
        axes.set_ylabel("z")
        figure.colorbar(
            image, ax=axes, location="bottom", shrink=0.85, extend="both", format="%.2g"
        )


def _vertical_slice(field: np.ndarray) -> np.ndarray:
    return field[:, field.shape[1] // 2, :].astype(np.float64)
