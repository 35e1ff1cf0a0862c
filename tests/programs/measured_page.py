"""The tables that `measure.py` writes of its rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from measured_runs import DEFAULTS, NATIVE, SET

Row = Mapping[str, Any]

SETTINGS = ("program", "the setting", "results may be off by")
TIMES = (
    "program",
    "link",
    "share of the link",
    "native, s",
    "nothing said, s",
    "of native",
    "the setting, s",
    "of native",
    "results",
)
BYTES = (
    "program",
    "link",
    "",
    "over the link, MB",
    "native over that",
    "messages compressed",
    "collectives compressed",
    "ratio of these",
    "in codecs, s",
    "what stayed raw, and why",
)
REASONS = 2  # told of a row, those with the most bytes or calls
MOST = 1.02  # of native, that anything may take


def page(found: Mapping[str, Any]) -> str:
    rows = found["rows"]
    parts = [_head(found), "## Settings\n", _table(SETTINGS, _settings(rows))]
    parts += ["\n## Times\n", _table(TIMES, _times(rows))]
    parts += ["\n## What travelled\n", _table(BYTES, _bytes(rows))]
    failed = [f"- {row['program']}: {row['failed']}" for row in rows if "failed" in row]
    return "\n".join(parts + (["\n## Not measured\n", *failed] if failed else [])) + "\n"


def _head(found: Mapping[str, Any]) -> str:
    where, rows = found["machine"], found["rows"]
    drops = sum(link["drops"] for row in rows for link in row["links"].values())
    return (
        f"{where['date']}, commit {where['commit']}, {where['processors']} processors "
        f"({where['processor']}), load {where['load_before']:.1f} before and "
        f"{where['load_after']:.1f} after, {where['seconds']:.0f} s in all, {drops} packets "
        f"dropped.\nMPI: {', '.join(sorted({row['mpi'] for row in rows}))}, a rank on each of two "
        f"hosts of the lab; {found['turns']} runs each way, by turns. Medians, and in brackets the "
        "least and the most.\n"
    )


def _settings(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    for row in rows:
        off = "nothing" if row["lossy"] is None else f"{row['lossy']:g} of the largest number"
        named = row["collectives"]
        words = [*([f"THINWIRE_COLLECTIVES={named}"] if named else []), *row["options"]]
        yield row["program"], f"`{' '.join(words).replace('{link}', 'RATE')}`", off


def _times(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    for row, link, ways in _measured(rows):
        native = ways[NATIVE]["median"]
        unshaped = row["links"][link]["unshaped"]["median"]
        cells = [f"{max(0.0, 1 - unshaped / native):.0%}", _spread(ways[NATIVE])]
        for way in (DEFAULTS, SET):
            of_native = ways[way]["median"] / native
            text = f"{of_native:.3f}"
            cells += [_spread(ways[way]), f"**{text}**" if of_native > MOST else text]
        yield row["program"], link, *cells, _results(ways)


def _spread(way: Row) -> str:
    seconds = way["seconds"]
    return f"{way['median']:.2f} ({min(seconds):.2f}-{max(seconds):.2f})"


def _results(ways: Mapping[str, Row]) -> str:
    different = [f"{name}: {way['different']}" for name, way in ways.items() if way["different"]]
    if different:
        return "**" + "; ".join(different) + "**"
    gap = ways[SET]["gap"]
    return "the same" if gap is None else f"the same; the setting off by {gap:.1e}"


def _bytes(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    for row, link, ways in _measured(rows):
        native = _middle(ways[NATIVE]["link_bytes"])
        yield row["program"], link, NATIVE, f"{native / 1e6:.1f}", *[""] * 6
        for way in (DEFAULTS, SET):
            sent = _middle(ways[way]["link_bytes"])
            cells = _of_report(ways[way]["reports"][-1])
            yield "", "", way, f"{sent / 1e6:.1f}", f"{native / sent:.2f}", *cells


def _of_report(report: Row) -> Sequence[str]:
    """Collectives are counted once a rank."""
    inside = report["collectives"]
    told = report["messages"] - report["raw_by_reason"].get("below the threshold", 0)
    calls = inside["compressed"] + inside["native_calls"]
    calls -= inside["native_by_reason"].get("below the threshold", 0)
    before = report["compressed_bytes"] + inside["bytes"]
    after = report["compressed_wire_bytes"] + inside["wire_bytes"]
    codecs = sum(part[f"{name}_seconds"] for part in (report, inside) for name in _CODEC)
    return (
        f"{report['compressed_messages']} of {told}",
        f"{inside['compressed']} of {calls}",
        f"{before / after:.2f}" if after else "",
        f"{codecs:.2f}",
        "; ".join(_reasons(report)),
    )


_CODEC = ("encode", "decode")


def _reasons(report: Row) -> list[str]:
    inside = report["collectives"]
    told = [("messages", reason, count) for reason, count in report["raw_by_reason"].items()]
    said = [f"{count} {kind} ({reason})" for kind, reason, count in _largest(told)]
    carried = inside["native_bytes_by_reason"]
    calls = [("collectives", reason, count) for reason, count in carried.items() if count]
    said += [f"{kind} of {_size(count)} ({reason})" for kind, reason, count in _largest(calls)]
    return said


def _largest(told: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    return sorted((one for one in told if one[2]), key=lambda one: -one[2])[:REASONS]


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count} bytes"


def _measured(rows: Sequence[Row]) -> Iterator[tuple[Row, str, Mapping[str, Row]]]:
    for row in rows:
        for link, figures in row["links"].items():
            yield row, link, figures["ways"]


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
