"""The page of results that `measure.py` writes of its rows."""

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
Column = tuple[str, str, str]  # of a table: its heading, the row's field, how it is written

CHANGES: list[Column] = [
    ("from", "before", "{}"),
    ("to", "after", "{}"),
    ("codec", "codec", "{}"),
    ("bytes", "bytes", "{}"),
    ("faster then", "right", "{}"),
    ("by", "gain", "{:.2f}"),
    ("messages until right", "until_right", "{}"),
    ("within 20", "within", "{}"),
    ("choices (C compressed, . raw)", "choices", "`{}`"),
]
MIXED: list[Column] = [
    ("link", "link", "{}"),
    ("bytes", "bytes", "{}"),
    ("messages", "messages", "{}"),
    ("oracle: shrinking", "shrinking", "{}"),
    ("oracle: noise", "noise", "{}"),
    ("of the oracle's time", "of_oracle", "{:.3f}"),
    ("of the native time", "of_native", "{:.3f}"),
    ("within 1.05", "within", "{}"),
    ("compressed, shrinking", "compressed_shrinking", "{:.0%}"),
    ("compressed, noise", "compressed_noise", "{:.0%}"),
]
PLAIN: list[Column] = [
    ("link", "link", "{}"),
    ("field", "field", "{}"),
    ("bytes", "bytes", "{}"),
    ("messages", "messages", "{}"),
    ("best", "best", "{}"),
    ("of the best", "of_best", "{:.3f}"),
    ("at least 0.9", "within", "{}"),
    ("of the native time", "of_native", "{:.3f}"),
    ("compressed", "compressed", "{:.0%}"),
]
NOISE: list[Column] = [
    ("link", "link", "{}"),
    ("call", "call", "{}"),
    ("codec", "codec", "{}"),
    ("bytes", "bytes", "{}"),
    ("pairs", "pairs", "{}"),
    ("of raw, median", "ratio", "{:.3f}"),
    ("95th percentile", "ratio_95", "{:.3f}"),
    ("within 1.02 and 1.05", "within", "{}"),
    ("compressed", "compressed", "{}"),
]
PREDICTIONS: list[Column] = [
    ("link", "link", "{}"),
    ("stream", "what", "{}"),
    ("messages", "messages", "{}"),
    ("within 15%", "within_15", "{:.0%}"),
    ("fact by prediction, median", "median_off", "{:+.1%}"),
    ("at least 90%", "within", "{}"),
]


def table(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    lines = [[heading for heading, _, _ in columns], ["---"] * len(columns)]
    lines += [[_cell(row[field], how) for _, field, how in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any, how: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    return "never" if value is None else how.format(value)


def page(found: dict[str, Any]) -> str:
    """All of it, in Markdown."""
    where = found["machine"]
    drops, seconds = where["drops"], where["seconds"]
    load = f"load {where['load_before']:.1f} before and {where['load_after']:.1f} after"
    return f"""# Never lose: the choice beside what could have been chosen

{where["date"]}, commit {where["commit"]}, {where["processors"]} processors
({where["processor"]}), {load}, {seconds:.0f} s in all.
`python bench/studies/guard/measure.py`: MPI programs on two hosts of the lab, every message
verified, {drops} packets dropped. Jobs take turns message by message; what a bucket lets through at
once goes ahead of each message, untimed. `auto` and named codecs are not forced.

## A link that changes under a running program

Messages of a field that shrinks; `thinwire lab set-link` changes the link. Which way is faster at
the new rate is measured by paired messages, native and forced. A choice is right from the first of
eight right messages in a row.

{table(CHANGES, found["changes"])}

## A mixed stream

A hundred messages that shrink, a hundred that do not, and so on, under `auto`. The oracle sends
each kind the way whose median was least: native, or a lossless codec by order. The first 20
messages are left out.

{table(MIXED, found["mixed"])}

## Nothing stated

Fields under `thinwire run -- mpirun ...` alone, all messages from the first one on, beside native
ones and every lossless codec by order. `of the best`: the least of their times by the one that was
taken.

{table(PLAIN, found["plain"])}

## Incompressible values

Random bits, among them NaN, which lossy codecs of a fixed size decline. Paired with native
messages or broadcasts, the first 20 left out.

{table(NOISE, found["noise"])}

## Predictions

Of messages of 1 MiB and more in the streams above, from the send until the receiver's answer.

{table(PREDICTIONS, found["predictions"])}
"""
