"""Where the time of operations goes: a stacked bar for each row of a bench, as SVG."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from thinwire.bench.plot import document

# Fields of rows, their words and their colours among the palette's, in the order of a bar.
PARTS = (
    ("allocate_seconds", "GPU memory", 2),
    ("encode_seconds", "encoding", 0),
    ("copy_seconds", "copies", 3),
    ("transfer_seconds", "transfer", 1),
    ("decode_seconds", "decoding, sums", 5),
)
REST = ("the rest: transfer, sums, waiting", 7)
NAMES, LONGEST, SECONDS, STEP, BAR, HEAD = 330, 420, 90, 24, 16, 64


@dataclass(frozen=True)
class Bar:
    """An operation in one way: its seconds, and those of parts that add up to no more."""

    name: str
    seconds: float
    parts: tuple[tuple[str, float, int], ...]  # words, seconds, colour


def bars_of(rows: Sequence[Any]) -> list[Bar]:
    """Bars of verified rows, after each row's compressed one the native one of the same row."""
    bars: dict[str, Bar] = {}
    for row in rows:
        if not row.verified or row.seconds is None:
            continue
        title = f"{row.link} {row.op} {row.size >> 10} KiB"
        native = getattr(row, "native_seconds", None)
        if native is not None:
            name = f"{title} native"
            bars.setdefault(name, Bar(name, native, ((REST[0], native, REST[1]),)))
        way = getattr(row, "way", "")
        name = " ".join(filter(None, (title, way, "" if way == "raw" else row.codec)))
        bars.setdefault(name, Bar(name, row.seconds, tuple(_parts(row))))
    return list(bars.values())


def _parts(row: Any) -> Iterable[tuple[str, float, int]]:
    """Codings of several threads, or beside the transfer, may take more than the whole: the rest is
    then nothing, and the parts are shortened alike."""
    found = [(words, getattr(row, name, None) or 0.0, tone) for name, words, tone in PARTS]
    total = sum(seconds for _, seconds, _ in found)
    shorter = min(1.0, row.seconds / total) if total else 1.0
    for words, seconds, tone in found:
        if seconds:
            yield words, seconds * shorter, tone
    if total < row.seconds:
        yield REST[0], row.seconds - total, REST[1]


def draw(rows: Sequence[Any]) -> str:
    """The SVG. ValueError if no row can be shown."""
    bars = bars_of(rows)
    if not bars:
        raise ValueError("no verified row to draw")
    longest = max(bar.seconds for bar in bars)
    parts = ['<text class="title" x="12" y="20">Where the time goes</text>', *_legend(bars)]
    for place, bar in enumerate(bars):
        parts += _bar(bar, HEAD + place * STEP, longest)
    return document((NAMES + LONGEST + SECONDS, HEAD + len(bars) * STEP + 12), parts)


def _legend(bars: list[Bar]) -> Iterable[str]:
    shown = {words for bar in bars for words, _, _ in bar.parts}
    x = 12
    for words, tone in [*((words, tone) for _, words, tone in PARTS), REST]:
        if words in shown:
            yield f'<rect x="{x}" y="34" width="10" height="10" fill="var(--c{tone})"/>'
            yield f'<text class="quiet" x="{x + 14}" y="43">{escape(words)}</text>'
            x += 26 + 7 * len(words)


def _bar(bar: Bar, y: int, longest: float) -> Iterable[str]:
    yield f'<text x="{NAMES - 8}" y="{y + 12}" text-anchor="end">{escape(bar.name)}</text>'
    x = float(NAMES)
    for words, seconds, tone in bar.parts:
        width = LONGEST * seconds / longest
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" '
            f'fill="var(--c{tone})"><title>{escape(words)}: {1e3 * seconds:.4g} ms</title></rect>'
        )
        x += width
    yield f'<text class="quiet" x="{x + 6:.1f}" y="{y + 12}">{1e3 * bar.seconds:.4g} ms</text>'
