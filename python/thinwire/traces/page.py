"""The merged traces of a job as one HTML page that needs nothing else."""

import time

from thinwire.traces import page_charts, page_tables, words
from thinwire.traces.merge import Merged


def page(merged: Merged, name: str) -> str:
    """`name` is what the traces are called."""
    sections = [
        _head(merged, name),
        _warnings(merged),
        _cards(merged),
        page_charts.steps(merged),
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


STYLE = """
:root{color-scheme:light dark;--back:#fbfbf9;--card:#fff;--text:#1d2327;--soft:#59646d;
--line:#dfe3e6;--a:#1769aa;--b:#c2570c;--c:#4d7c2f;--warn:#fff4d6;--warn-line:#d9a400}
@media(prefers-color-scheme:dark){:root{--back:#14181b;--card:#1c2226;--text:#e6e9eb;
--soft:#9aa6ae;--line:#323b41;--a:#6cb6f0;--b:#f0a060;--c:#9ccc73;--warn:#3a3115;
--warn-line:#b08a1a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.15rem;margin:2rem 0 .6rem}
h3{font-size:.95rem;margin:0 0 .4rem}
p{margin:.4rem 0;overflow-wrap:anywhere}
.soft{color:var(--soft)}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
.cards{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,9.5rem),1fr))}
.charts{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr))}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem;
min-width:0}
.card b{display:block;font-size:1.35rem;line-height:1.3}
.card span{color:var(--soft);font-size:.875rem}
.warn{background:var(--warn);border-left:4px solid var(--warn-line);padding:.5rem .75rem;
margin:.5rem 0}
.charts .card{max-width:34rem}
svg{display:block;width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--line);stroke-width:1}
.line{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}
.line.a{stroke:var(--a)}.line.b{stroke:var(--b)}.line.c{stroke:var(--c)}
rect.a{fill:var(--a)}rect.b{fill:var(--b)}rect.c{fill:var(--c)}
rect.empty{fill:var(--back)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.875rem;color:var(--soft)}
.key{display:inline-block;width:.8em;height:.8em;border-radius:.15em;margin-right:.4em}
.key.a{background:var(--a)}.key.b{background:var(--b)}.key.c{background:var(--c)}
.wide{overflow-x:auto;max-width:100%;background:var(--card);border:1px solid var(--line);
border-radius:.5rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;white-space:nowrap}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
tr:last-child td{border-bottom:0}
td{min-width:6rem;overflow-wrap:break-word}
td code{overflow-wrap:break-word}
td.n{min-width:0}
td:first-child{min-width:8.5rem}
td b{display:block}
details{margin:.75rem 0}
summary{cursor:pointer;color:var(--soft)}
"""
