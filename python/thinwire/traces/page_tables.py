"""The parts of the page that are tables: what stayed raw, kinds of calls, predictions, ranks,
settings."""

from typing import Any

from thinwire.traces import words
from thinwire.traces.advice import advice_on
from thinwire.traces.merge import Merged

MOST_ROWS = 100
FEW_ROWS = 16


def raw(merged: Merged) -> str:
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
        return words.section("What stayed raw, and why", "<p>Nothing did.</p>")
    return words.section(
        "What stayed raw, and why",
        words.table(["why, and what to do", "of", "calls", "bytes"], rows, {0, 1}),
        "The most bytes first. Of messages below the threshold only the number is known.",
    )


def _kind_name(kind: dict[str, Any]) -> list[str]:
    return [
        words.text("messages" if kind["operation"] == "send" else kind["operation"]),
        words.text(kind["communicator"] or "-"),
        words.text(kind["place"] or "-"),
        f"<code>{words.text(kind['codec'] or '-')}</code>",
    ]


def kinds(merged: Merged) -> str:
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
    return words.section(
        "By kind",
        words.table([*heads, "ratio", "time", "less than raw"], rows, {0, 1, 2, 3, 4}),
        "The most bytes first. Time is that of encoding, and of compressed calls as a whole. Less "
        "than raw: of collectives as timed both ways; of messages as predicted, also their "
        "transfer and decoding.",
    )


def predictions(merged: Merged) -> str:
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
        return words.section(
            "Prediction and fact", "<p>Nothing was predicted: no rate of the link is known.</p>"
        )
    return words.section(
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


def ranks(merged: Merged) -> str:
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
    return words.section(
        "Ranks",
        drawn,
        f"The {len(rows)} that send the most bytes in messages.",
    )


def settings(merged: Merged) -> str:
    job = merged.job
    rows = [
        [f"<code>{words.text(name)}</code>", f"<code>{words.text(value)}</code>"]
        for name, value in sorted(job["settings"].items())
    ]
    machines = "; ".join(
        f"{words.text(model)}, {number} processors" for model, number in job["processors"]
    )
    said = f"{machines}. Threshold {words.size(job['threshold'])}."
    return words.section("Settings and machine", words.table(["name", "value"], rows, {0, 1}), said)
