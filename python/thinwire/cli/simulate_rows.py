"""Rows of `thinwire simulate`."""

from dataclasses import asdict, dataclass
from typing import Any

from thinwire.bench.output import Column, number
from thinwire.codec import CodecCost
from thinwire.simulation.compare import MOST_RANKS, Comparison
from thinwire.simulation.machine import Machine
from thinwire.simulation.run import Start, start_of


@dataclass(frozen=True)
class Row:
    """One number of nodes."""

    found: Comparison
    start: Start


def row_of(found: Comparison, machine: Machine) -> Row:
    return Row(found, start_of(found.call, machine))


def _bytes(value: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"
        value /= 1024
    raise AssertionError


def _both(row: Row, name: str) -> str:
    raw, coded = getattr(row.found.raw, name), getattr(row.found.compressed, name)
    return f"{raw} / {coded}" if raw != coded else str(raw)


def _each(row: Row, name: str) -> str:
    ranks = row.found.call.ranks
    raw, coded = getattr(row.found.raw, name), getattr(row.found.compressed, name)
    return f"{_bytes(raw / ranks)} / {_bytes(coded / ranks)}"


# Bytes and messages are of a rank: raw, and compressed.
COLUMNS: list[Column] = [
    ("ranks", lambda row: str(row.found.call.ranks)),
    ("raw ms", lambda row: number(row.found.raw.seconds * 1e3, ".4g")),
    ("ms", lambda row: number(row.found.compressed.seconds * 1e3, ".4g")),
    ("gain", lambda row: number(row.found.gain, ".2f")),
    ("between nodes", lambda row: _each(row, "link_bytes")),
    ("messages", lambda row: _both(row, "most_messages")),
    ("workspace", lambda row: _bytes(row.found.compressed.workspace_bytes)),
    ("start ms", lambda row: number(row.start.seconds * 1e3, ".3g")),
    ("raw way", lambda row: row.found.raw.way),
    ("way", lambda row: row.found.compressed.way),
]


def json_of(
    rows: list[Row],
    machine: Machine,
    cost: CodecCost,
    source: str,
    searched: bool,
    least: int | None,
) -> dict[str, Any]:
    """Seconds and bytes. `loses_from_ranks` is null if it was not looked for, or if compressing
    gains at `most_ranks`."""
    return {
        "machine": asdict(machine),
        "cost": asdict(cost) | {"source": source},
        "rows": [
            {
                **asdict(row.found.call),
                "ranks": row.found.call.ranks,
                "codec": row.found.codec,
                "raw": asdict(row.found.raw),
                "compressed": asdict(row.found.compressed),
                "gain": row.found.gain,
                "start": asdict(row.start),
            }
            for row in rows
        ],
        "searched": searched,
        "most_ranks": MOST_RANKS,
        "loses_from_ranks": least,
    }
