"""The demo's report on disk: a list of runs, one object each."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .runs import CPU, GPU, NO_SHIM, SHIM_OFF


@dataclass(frozen=True)
class Row:
    """One case over one link.

    `seconds` is the fastest of `repeats`; `speedup` compares with the fastest run without the shim,
    and `speedup_limit` is what it would be if messages took no time. `bytes` were asked for by the
    program on all ranks, `wire_bytes` travelled for them. `max_error` and `relative_error` are the
    worst of all repeats, against the field of a run without the shim; the latter in units of that
    field's largest magnitude. `raw_link_rate` is in bytes per second; `link_share` and
    `speedup_without_bursts`, a lower bound, are explained in thinwire.demo.model. `raw_messages`
    counts by reason what the shim left uncompressed. On GPUs the run without the shim is staged by
    hand, and the one that is off is the shim's own staging.
    """

    link: str
    codec: str
    seconds: float
    raw_seconds: float
    speedup: float
    speedup_limit: float
    speedup_without_bursts: float
    ratio: float
    max_error: float
    relative_error: float
    verified: bool
    problems: list[str]
    bytes: int
    wire_bytes: int
    comm_seconds: float
    raw_link_rate: float
    link_share: float
    device: str = CPU
    burst_bytes: int = 0
    drops: int = 0
    repeats: list[float] = field(default_factory=list)
    raw_messages: dict[str, int] = field(default_factory=dict)


def case_name(row: Row) -> str:
    """What tables and pictures call the row's case."""
    return name_of_case(row.codec, row.device)


def name_of_case(codec: str, device: str) -> str:
    """The same of a case that has no row yet."""
    words = {NO_SHIM: "staged" if device == GPU else "native", SHIM_OFF: "codec off"}
    return words.get(codec, codec)


def write_report(rows: list[Row], path: Path) -> None:
    """Writes the rows as a JSON list. Numbers that are not finite become null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    objects = [{key: _finite(value) for key, value in asdict(row).items()} for row in rows]
    path.write_text(json.dumps(objects, indent=2, allow_nan=False) + "\n")


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
