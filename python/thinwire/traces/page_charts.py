"""The parts of the page that are drawn: over time, who sends to whom, sizes and times."""

from itertools import accumulate
from typing import Any

from thinwire.traces import charts, words
from thinwire.traces.charts import Line
from thinwire.traces.merge import Merged
from thinwire.traces.steps import said

MOST_PAIRS = 100


def over_time(merged: Merged) -> str:
    steps = merged.over_time
    if not steps:
        return ""
    length = steps[0]["to"] - steps[0]["from"]
    until = steps[-1]["to"]

    def a_second(*names: str) -> list[float | None]:
        return [sum(step[name] for name in names) / length for step in steps]

    raw = a_second("bytes", "collective_bytes", "native_bytes")
    wire = a_second("wire_bytes", "collective_wire_bytes", "native_bytes")
    ratios = [
        None if not sent else (step["bytes"] + step["collective_bytes"]) / sent
        for step in steps
        for sent in [step["wire_bytes"] + step["collective_wire_bytes"]]
    ]
    coding = [value and value / 1e9 for value in a_second("encode_nanoseconds")]
    decoding = [value and value / 1e9 for value in a_second("decode_nanoseconds")]
    made = [
        (
            "Bytes a second",
            [Line("the program's", "a", raw), Line("sent", "b", wire)],
            words.size,
        ),
        ("Ratio", [Line("bytes over bytes sent", "a", ratios)], lambda value: f"{value:.3g}"),
        (
            "Seconds in codecs for messages a second, all ranks",
            [Line("encode", "a", coding), Line("decode", "b", decoding)],
            lambda value: f"{value:.3g}",
        ),
        (
            "Seconds saved by collectives, and predicted of messages, all ranks, so far",
            [Line("beside raw", "a", _so_far(steps))],
            lambda value: f"{value:.3g}",
        ),
        (
            "Scratch memory held, all ranks",
            [Line("host and pinned", "a", [step["pool_bytes"] or None for step in steps])],
            words.size,
        ),
    ]
    cards = "".join(
        f'<div class="card"><h3>{words.text(title)}</h3>'
        + charts.over_time(title, until, lines, shown)
        + charts.legend([(line.name, line.colour) for line in lines])
        + "</div>"
        for title, lines, shown in made
    )
    return words.section("Over time", f'<div class="charts">{cards}</div>')


def steps(merged: Merged) -> str:
    found = merged.steps
    if found is None:
        return ""
    title = "Seconds a step"
    lines = [
        Line(name, colour, [point[f"{name}_seconds"] for point in found["over_time"]])
        for name, colour in (("compressed", "a"), ("raw", "b"))
        if found[name]["number"]
    ]
    drawn = charts.over_time(title, found["until"], lines, words.seconds)
    keys = charts.legend([(line.name, line.colour) for line in lines])
    return words.section(
        "Steps",
        f'<div class="charts"><div class="card"><h3>{title}</h3>{drawn}{keys}</div></div>',
        f"{words.text(said(found))} A step is the shortest run of calls that rank "
        f"{found['rank']} repeats, and compressed if one of its calls is. Raw ones are mostly the "
        "first, in which a program warms up: a run under <code>--codec off</code> is the fair "
        "comparison.",
    )


def _so_far(steps: list[dict[str, Any]]) -> list[float | None]:
    """Gaps where more was lost than gained, and where nothing was predicted at all."""
    sums = list(accumulate(step["saved_nanoseconds"] / 1e9 for step in steps))
    return [each if each >= 0 and any(sums) else None for each in sums]


def matrix(merged: Merged) -> str:
    matrix = merged.matrix
    pairs = matrix["pairs"]
    if not pairs:
        return words.section("Who sends to whom", "<p>No messages of the threshold or more.</p>")
    what = "node" if matrix["of"] == "nodes" else "rank"
    names = matrix["names"]
    rows = [
        [
            f"{words.text(names[source])} &rarr; {words.text(names[target])}",
            words.count(calls),
            words.size(raw),
            words.size(wire),
            words.ratio(raw, wire),
        ]
        for source, target, calls, raw, wire in sorted(pairs, key=lambda pair: -pair[3])[
            :MOST_PAIRS
        ]
    ]
    apart = matrix["bytes_to_others"]
    said = (
        f"Bytes of messages from each {what} (rows) to each (columns): the stronger the "
        "colour, the more, by powers of ten. Collectives are not in it."
        + (
            f" Besides, {words.size(apart)} went to peers that were not told apart."
            if apart
            else ""
        )
    )
    drawn = charts.matrix("Who sends to whom", names, pairs, what)
    return words.section(
        "Who sends to whom",
        f'<div class="charts"><div class="card">{drawn}</div></div><details><summary>'
        f"The {min(len(pairs), MOST_PAIRS)} pairs that exchange the most</summary>"
        + words.table([f"{what}s", "messages", "bytes", "sent", "ratio"], rows)
        + "</details>",
        said,
    )


def sizes(merged: Merged) -> str:
    def counted(which: str, *, raw: bool) -> dict[int, int]:
        found: dict[int, int] = {}
        for kind in merged.kinds:
            if (kind["raw"] is not None) == raw:
                for bucket, calls in kind[which].items():
                    found[bucket] = found.get(bucket, 0) + calls
        return found

    made = []
    for title, which, label in (
        ("Sizes of messages and collectives", "sizes", words.size),
        ("Times of encoding, and of compressed calls", "times", lambda ns: words.seconds(ns / 1e9)),
        ("The same as predicted", "predictions", lambda ns: words.seconds(ns / 1e9)),
    ):
        coded, left = counted(which, raw=False), counted(which, raw=True)
        buckets = [*coded, *left]
        if not buckets:
            continue
        span = range(min(buckets), max(buckets) + 1)
        stacks = [
            ("compressed", "a", [coded.get(bucket, 0) for bucket in span]),
            ("raw", "b", [left.get(bucket, 0) for bucket in span]),
        ]
        drawn = charts.bars(title, [label(2**bucket) for bucket in span], stacks, words.count)
        keys = charts.legend([("compressed", "a"), ("raw", "b")])
        made.append(f'<div class="card"><h3>{title}</h3>{drawn}{keys}</div>')
    if not made:
        return ""
    return words.section(
        "Sizes and times",
        f'<div class="charts">{"".join(made)}</div>',
        "A bar has what is from its figure to below the double.",
    )
