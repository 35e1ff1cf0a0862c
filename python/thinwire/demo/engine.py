"""Runs every case over every link and turns what came back into the rows of the report."""

import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import model
from .links import Link
from .report import Row, name_of_case
from .runs import CODECS, CPU, NO_SHIM, SHIM_OFF, Run, Size, run_wave
from .verify import field_error, problems_of

CASES = (NO_SHIM, SHIM_OFF, *CODECS)

# Opened around each run, with the words to show meanwhile.
Progress = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class Session:
    """What the demo runs: the program, how large, how often, and who measures and shows."""

    wave: Path
    size: Size
    repeats: int
    progress: Progress
    device: str = CPU


@dataclass(frozen=True)
class Outcome:
    """The rows of the report, and the last fields of the first link for the picture."""

    rows: list[Row]
    fields: dict[str, np.ndarray]


def run_all(session: Session, links: Iterable[Link]) -> Outcome:
    """Every case over every link of `links`, one link open at a time."""
    rows: list[Row] = []
    fields: dict[str, np.ndarray] = {}
    for link in links:
        runs = _run_cases(session, link)
        rows += _rows_of_link(session, link, runs)
        if not fields:
            fields = {codec: repeats[-1].field for codec, repeats in runs.items()}
    return Outcome(rows, fields)


def _run_cases(session: Session, link: Link) -> dict[str, list[Run]]:
    """All repeats of all cases, interleaved: a disturbance of the machine meets every case."""
    runs: dict[str, list[Run]] = {codec: [] for codec in CASES}
    with tempfile.TemporaryDirectory(prefix="thinwire-demo-") as scratch:
        for repeat in range(session.repeats):
            for codec in CASES:
                name = name_of_case(codec, session.device)
                with session.progress(f"{link.name}  {name}  {repeat + 1}/{session.repeats}"):
                    run = run_wave(
                        link, codec, session.size, session.wave, Path(scratch), session.device
                    )
                runs[codec].append(run)
    return runs


def _rows_of_link(session: Session, link: Link, runs: dict[str, list[Run]]) -> list[Row]:
    raw_wave = _fastest(runs[NO_SHIM]).wave
    raw = model.RawRun(
        raw_wave["seconds"], raw_wave["comm_seconds"], raw_wave["busiest_bytes_sent"]
    )
    with session.progress(f"{link.name}  rate of the bare link"):
        # A link without a rate of its own is taken at the rate that the raw run reached.
        rate = link.raw_rate() or raw.bytes_one_way / raw.comm_seconds
    limit = model.speedup_limit(
        raw, [(run.seconds, run.wave["comm_seconds"]) for each in runs.values() for run in each]
    )
    facts = link.facts()
    return [_row(session, link, runs, codec, raw, limit, rate, facts) for codec in CASES]


def _row(
    session: Session,
    link: Link,
    runs: dict[str, list[Run]],
    codec: str,
    raw: model.RawRun,
    limit: float,
    rate: float,
    facts: dict[str, int],
) -> Row:
    reference = runs[NO_SHIM][0].field
    problems = [problem for run in runs[codec] for problem in problems_of(run, reference)]
    if facts.get("drops"):
        problems.append(f"the link dropped {facts['drops']} packets")
    run = _fastest(runs[codec])
    asked = run.wave["bytes_sent"]
    wire = run.shim["wire_bytes"] if run.shim else asked
    ratio = model.compression_ratio(asked, wire)
    errors = [field_error(reference, other.field) for other in runs[codec]]
    worst = max(errors, key=lambda error: error.absolute)
    return Row(
        link=link.name,
        codec=codec,
        seconds=run.seconds,
        raw_seconds=raw.seconds,
        speedup=raw.seconds / run.seconds,
        speedup_limit=limit,
        speedup_without_bursts=model.speedup_without_bursts(
            raw,
            run.seconds,
            run.wave["busiest_messages_sent"] if run.shim else 0,
            facts.get("burst_bytes", 0),
            rate,
        ),
        ratio=ratio,
        max_error=worst.absolute,
        relative_error=worst.relative,
        verified=not problems,
        problems=problems,
        bytes=asked,
        wire_bytes=wire,
        comm_seconds=run.wave["comm_seconds"],
        repeats=[other.seconds for other in runs[codec]],
        raw_link_rate=rate,
        link_share=model.link_share(raw, rate),
        raw_messages=run.shim["raw_by_reason"] if run.shim else {},
        device=session.device,
        **facts,
    )


def _fastest(runs: list[Run]) -> Run:
    return min(runs, key=lambda run: run.seconds)
