"""The merged traces of a job as one HTML page that needs nothing else."""

import time

from thinwire.traces import page_charts, page_tables, words
from thinwire.traces.merge import Merged
from thinwire.traces.style import STYLE


def page(merged: Merged, name: str) -> str:
    """`name` is what the traces are called."""
    sections = [
        _head(merged, name),
        _warnings(merged),
        _cards(merged),
        page_tables.raw(merged),
        page_charts.over_time(merged),
        page_charts.matrix(merged),
        page_charts.sizes(merged),
        page_tables.kinds(merged),
        page_tables.predictions(merged),
        page_tables.ranks(merged),
        page_tables.settings(merged),
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
