"""The merged traces of a job as one HTML page that needs nothing else."""

import time
from itertools import accumulate
from typing import Any

from thinwire.traces import charts, words
from thinwire.traces.advice import advice_on
from thinwire.traces.charts import Line
from thinwire.traces.merge import Merged
from thinwire.traces.style import STYLE

MOST_ROWS = 100
FEW_ROWS = 16


def page(merged: Merged, name: str) -> str:
    """`name` is what the traces are called."""
    sections = [
        _head(merged, name),
        _warnings(merged),
        _cards(merged),
        _raw(merged),
        _over_time(merged),
        _matrix(merged),
        _sizes(merged),
        _kinds(merged),
        _predictions(merged),
        _ranks(merged),
        _settings(merged),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # Browsers that look for an icon find this one.
        '<link rel="icon" href="data:,">'
        f"<title>{words.text(name)}: what was compressed</title><style>{STYLE}</style></head>"
        f"<body><main>{''.join(sections)}</main></body></html>\n"
    )


def _head(merged: Merged, name: str) -> str:
    job = merged.job
    started = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(job["started"]))
    nodes = len(job["nodes"])
    return (
        f"<h1>{words.text(name)}</h1><p class=soft>{job['ranks']} ranks on {nodes} "
        f"{'node' if nodes == 1 else 'nodes'}, {words.seconds(job['seconds'])} from {started}; "
        f"codec <code>{words.text(job['codec'])}</code>; thinwire {words.text(job['version'])}, "
        f"{words.text(job['mpi'])}</p>"
    )


def _warnings(merged: Merged) -> str:
    said = list(merged.warnings)
    if merged.job["settings_differ"]:
        said.append("the ranks' settings differ: those of the first are below")
    errors = sum(rank["errors"] for rank in merged.ranks)
    if errors:
        said.append(f"{errors} errors: damaged messages, lack of memory, or GPUs that refused")
    return "".join(f'<p class="warn">{words.text(each)}</p>' for each in said)


def _cards(merged: Merged) -> str:
    totals = merged.totals
    whole = totals["collectives"]
    raw = totals["compressed_bytes"] + whole["bytes"]
    wire = totals["compressed_wire_bytes"] + whole["wire_bytes"]
    asked = totals["bytes"] + whole["bytes"] + whole["native_bytes"]
    coded = totals["encode_seconds"] + totals["decode_seconds"]
    rows = [
        (f"{100 * raw / asked:.0f}%" if asked else "-", "of all bytes were compressed"),
        (words.ratio(raw, wire), "ratio of what was compressed"),
        (words.size(raw - wire), "less on the way"),
        (f"{words.count(totals['compressed_messages'])}", _of(totals["messages"], "messages")),
        (
            f"{words.count(whole['compressed'])}",
            _of(whole["compressed"] + whole["native_calls"], "collective calls"),
        ),
        (words.seconds(coded), "in codecs for messages, summed over ranks"),
    ]
    for kind, what in (
        ("collectives", "of time saved in collectives, as timed both ways, over all ranks"),
        ("messages", "less for messages, as predicted and not timed, over all ranks"),
    ):
        of = merged.saved[kind]
        if of["raw_seconds"] > 0:
            rows.append((words.saved(of["raw_seconds"], of["seconds"]), what))
    cards = "".join(
        f'<div class="card"><b>{value}</b><span>{words.text(what)}</span></div>'
        for value, what in rows
    )
    return f'<div class="cards">{cards}</div>'


def _of(everything: int, what: str) -> str:
    return f"of {words.count(everything)} {what} compressed"


def _section(title: str, inner: str, said: str = "") -> str:
    under = f'<p class="soft">{said}</p>' if said else ""
    return f"<section><h2>{words.text(title)}</h2>{under}{inner}</section>"


def _raw(merged: Merged) -> str:
    rows = [
        [
            f"<b>{words.text(row['reason'])}</b> "
            f'<span class="soft">{words.marked(advice_on(row["reason"]))}</span>',
            words.text(row["of"]),
            words.count(row["calls"]),
            words.size(row["bytes"]) if row["bytes"] else "-",
        ]
        for row in merged.raw
    ]
    if not rows:
        return _section("What stayed raw, and why", "<p>Nothing did.</p>")
    return _section(
        "What stayed raw, and why",
        words.table(["why, and what to do", "of", "calls", "bytes"], rows, {0, 1}),
        "The most bytes first. Of messages below the threshold only the number is known.",
    )


def _over_time(merged: Merged) -> str:
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
    return _section("Over time", f'<div class="charts">{cards}</div>')


def _so_far(steps: list[dict[str, Any]]) -> list[float | None]:
    """Gaps where more was lost than gained, and where nothing was predicted at all."""
    sums = list(accumulate(step["saved_nanoseconds"] / 1e9 for step in steps))
    return [each if each >= 0 and any(sums) else None for each in sums]


def _matrix(merged: Merged) -> str:
    matrix = merged.matrix
    pairs = matrix["pairs"]
    if not pairs:
        return _section("Who sends to whom", "<p>No messages of the threshold or more.</p>")
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
        for source, target, calls, raw, wire in sorted(pairs, key=lambda pair: -pair[3])[:MOST_ROWS]
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
    return _section(
        "Who sends to whom",
        f'<div class="charts"><div class="card">{drawn}</div></div><details><summary>'
        f"The {min(len(pairs), MOST_ROWS)} pairs that exchange the most</summary>"
        + words.table([f"{what}s", "messages", "bytes", "sent", "ratio"], rows)
        + "</details>",
        said,
    )


def _sizes(merged: Merged) -> str:
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
    return _section(
        "Sizes and times",
        f'<div class="charts">{"".join(made)}</div>',
        "A bar has what is from its figure to below the double.",
    )


def _kind_name(kind: dict[str, Any]) -> list[str]:
    return [
        words.text("messages" if kind["operation"] == "send" else kind["operation"]),
        words.text(kind["communicator"] or "-"),
        words.text(kind["place"] or "-"),
        f"<code>{words.text(kind['codec'] or '-')}</code>",
    ]


def _kinds(merged: Merged) -> str:
    rows = [
        [
            *_kind_name(kind),
            words.text(kind["raw"] or "compressed"),
            words.count(kind["calls"]),
            words.size(kind["bytes"]),
            words.size(kind["wire_bytes"]),
            words.ratio(kind["bytes"], kind["wire_bytes"]),
            words.seconds(kind["nanoseconds"] / 1e9) if kind["nanoseconds"] else "-",
            words.saved(kind["raw_nanoseconds"] / 1e9, kind["whole_nanoseconds"] / 1e9),
        ]
        for kind in merged.kinds[:MOST_ROWS]
    ]
    if not rows:
        return ""
    heads = ["operation", "communicator", "peer", "codec", "became", "calls", "bytes", "sent"]
    return _section(
        "By kind",
        words.table([*heads, "ratio", "time", "less than raw"], rows, {0, 1, 2, 3, 4}),
        "The most bytes first. Time is that of encoding, and of compressed calls as a whole. Less "
        "than raw: of collectives as timed both ways; of messages as predicted, also their "
        "transfer and decoding.",
    )


def _predictions(merged: Merged) -> str:
    rows = [
        [
            *_kind_name(kind),
            words.count(kind["calls"]),
            words.seconds(kind["predicted_nanoseconds"] / 1e9),
            words.seconds(kind["nanoseconds"] / 1e9),
            f"{100 * (kind['nanoseconds'] / kind['predicted_nanoseconds'] - 1):+.0f}%",
        ]
        for kind in merged.kinds
        if kind["raw"] is None and kind["predicted_nanoseconds"] and kind["nanoseconds"]
    ]
    if not rows:
        return _section(
            "Prediction and fact", "<p>Nothing was predicted: no rate of the link is known.</p>"
        )
    return _section(
        "Prediction and fact",
        words.table(
            ["operation", "communicator", "peer", "codec", "calls", "predicted", "fact", "off by"],
            rows,
            {0, 1, 2, 3},
        ),
        "Of messages the encoding, of collectives the calls, summed over ranks.",
    )


def _signed(value: float) -> str:
    return ("-" if value < 0 else "") + words.seconds(abs(value)) if value else "-"


def _ranks(merged: Merged) -> str:
    shown = sorted(merged.ranks, key=lambda row: -int(row["bytes"]))[:MOST_ROWS]
    rows = [
        [
            str(row["rank"]),
            words.text(row["node"]),
            words.count(row["messages"]),
            words.size(row["bytes"]),
            words.ratio(row["bytes"], row["wire_bytes"]),
            words.seconds(row["encode_seconds"]),
            words.seconds(row["decode_seconds"]),
            _signed(row["saved_seconds"]),
            words.size(row["pool_bytes_at_most"]),
            "yes" if row["ended"] else "no",
        ]
        for row in shown
    ]
    heads = [
        "rank",
        "node",
        "messages",
        "bytes",
        "ratio",
        "encode",
        "decode",
        "less than raw",
        "most scratch",
    ]
    drawn = words.table([*heads, "ended"], rows, {1})
    if len(rows) > FEW_ROWS:
        drawn = f"<details><summary>All {len(rows)}</summary>{drawn}</details>"
    return _section(
        "Ranks",
        drawn,
        f"The {len(rows)} that send the most bytes in messages.",
    )


def _settings(merged: Merged) -> str:
    job = merged.job
    rows = [
        [f"<code>{words.text(name)}</code>", f"<code>{words.text(value)}</code>"]
        for name, value in sorted(job["settings"].items())
    ]
    machines = "; ".join(
        f"{words.text(model)}, {number} processors" for model, number in job["processors"]
    )
    said = f"{machines}. Threshold {words.size(job['threshold'])}."
    return _section("Settings and machine", words.table(["name", "value"], rows, {0, 1}), said)
