"""The demo's picture: speed-ups below their limit, and what compression did to the field."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from .report import Row, case_name
from .runs import CODECS, NO_SHIM, SHIM_OFF
from .verify import field_error

COLOURS = {SHIM_OFF: "#8a8f98", CODECS[0]: "#1a7f64", CODECS[1]: "#2a6fbb", CODECS[2]: "#e07b39"}
# Points of what is shown of the field, across.
WIDTH = 128


@dataclass(frozen=True)
class Panel:
    """A part of the field, in units of the field's largest value, with colours up to `limit`."""

    title: str
    values: np.ndarray
    colours: str
    limit: float


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
    for place, row in enumerate(rows):
        measured = axes.bar(place, row.speedup, 0.6, color=COLOURS[row.codec])
        words = f"{row.speedup:.2f}" + ("\nloss" if row.speedup < 1 else "")
        axes.bar_label(measured, labels=[words], padding=2, fontweight="bold")
        if row.speedup_without_bursts < row.speedup:
            axes.plot([place] * 2, [row.speedup_without_bursts, row.speedup], "k_-", lw=1)
    limit = max([1.0, *(row.speedup_limit for row in rows)])
    axes.axhline(1, color="black", linewidth=1, linestyle="--")
    axes.axhline(limit, color="black", linewidth=1, linestyle=":")
    axes.set_xticks(range(len(rows)), [case_name(row) for row in rows])
    axes.set_ylim(0, 1.15 * limit)
    axes.set_ylabel("dotted: if messages took no time\nblack line: bound without bursts")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_fields(figure, fields: dict[str, np.ndarray]) -> None:
    figure.suptitle(
        "A vertical slice of the wave field after the last step, through the largest error of "
        f"{CODECS[-1]}, in units of the field's largest value"
    )
    shown = panels(fields)
    for axes, panel in zip(figure.subplots(1, len(shown)), shown, strict=True):
        limit = panel.limit
        image = axes.imshow(panel.values, cmap=panel.colours, vmin=-limit, vmax=limit)
        axes.set_title(panel.title)
        axes.set_xlabel("x")
        axes.set_ylabel("z")
        figure.colorbar(
            image, ax=axes, location="bottom", shrink=0.85, extend="both", format="%.2g"
        )


def panels(fields: dict[str, np.ndarray]) -> list[Panel]:
    """What is shown of the fields: raw, under the coarsest codec, and their difference."""
    lossy = CODECS[-1]
    part = _through_worst(fields[NO_SHIM], fields[lossy])
    peak = float(np.max(np.abs(fields[NO_SHIM]))) or 1.0
    raw, coded = (fields[codec][part].astype(np.float64) / peak for codec in (NO_SHIM, lossy))
    error = coded - raw
    # The field is strong at its sources and weak in the fronts, and so is the error: colour scales
    # end below the largest values.
    signal = _percentile(raw, 98)
    largest = field_error(fields[NO_SHIM], fields[lossy]).relative
    return [
        Panel("without compression", raw, "seismic", signal),
        Panel(lossy, coded, "seismic", signal),
        Panel(f"error, at most {largest:.2g}", error, "PuOr", _percentile(error, 99.5)),
    ]


def _percentile(values: np.ndarray, percent: float) -> float:
    return float(np.percentile(np.abs(values), percent)) or 1.0


def _through_worst(raw: np.ndarray, coded: np.ndarray) -> tuple[slice, int, slice]:
    """A part of the vertical slice that has the point of the largest error, all its depth."""
    error = np.abs(coded - raw)
    _, y, x = (int(at) for at in np.unravel_index(np.argmax(error), raw.shape))
    first = max(0, min(x - WIDTH // 2, raw.shape[2] - WIDTH))
    return slice(None), y, slice(first, first + WIDTH)
