"""The tables of study.py, of the lines that the examples have written, in Markdown."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from counters import sums

Run = dict[str, Any]
# The part that is expected of what the measured share of communication and the measured ratio
# allow.
PART = 0.9


def tables(path: Path) -> Iterator[str]:
    runs: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for line in path.read_text().splitlines():
        run = json.loads(line)
        if "policy" in run:
            # In the lab a host's interface counts what it sends.
            where = "" if run.get("sent_bytes") else ", one machine"
            runs[run["example"] + where][run["policy"]].append(run)
    timed = {name: kinds for name, kinds in runs.items() if any_has(kinds, "communication")}
    if timed:
        yield from speeds(timed)
        yield ""
    rest = {name: kinds for name, kinds in runs.items() if name not in timed}
    if rest:
        yield from losses(rest)


def any_has(kinds: dict[str, list[Run]], what: str) -> bool:
    return any(what in run for of_kind in kinds.values() for run in of_kind)


def speeds(runs: dict[str, dict[str, list[Run]]]) -> Iterator[str]:
    """A row for each example and policy, beside the example's run without compression; of several
    runs the median, and the least and the most."""
    columns = ("step ms, median", "p95", "communication", "MB sent a step", "ratio", "faster")
    columns += (f"{PART} of what is possible", "calls compressed", "losses as without")
    yield "| example | policy | " + " | ".join(columns) + " |"
    yield "|---" * (2 + len(columns)) + "|"
    for example, kinds in runs.items():
        for policy, of_kind in kinds.items():
            cells = speed_cells(kinds["none"], of_kind)
            yield f"| {example} | `{policy}` | " + " | ".join(cells) + " |"


def speed_cells(raw: list[Run], runs: list[Run]) -> list[str]:
    none, run = raw[-1], runs[-1]
    share, sent = typical(raw, "communication"), run["sent_bytes"]
    each = [one["median_ms"] for one in runs]
    between = f" ({min(each):.4g} to {max(each):.4g})" if len(each) > 1 else ""
    own = [f"{typical(runs, 'median_ms'):.4g}{between}", f"{typical(runs, 'p95_ms'):.4g}"]
    if run is none:
        return [*own, f"{share:.0%}", f"{sent / 1e6:.4g}", "", "", "", "", ""]
    ratio = none["sent_bytes"] / sent if sent else 1.0
    possible = 1 / (1 - share + share / ratio)
    faster = typical(raw, "median_ms") / typical(runs, "median_ms")
    furthest = max(abs(a - b) for a, b in zip(none["losses"], run["losses"], strict=False))
    same = "equal" if furthest == 0 else f"within {furthest:.2g}"
    figures = [f"{sent / 1e6:.4g}", f"{ratio:.2f}", f"{faster:.2f}", f"{PART * possible:.2f}"]
    part = compressed(run)
    return [*own, "", *figures, "" if part is None else f"{part:.0%}", same]


def typical(runs: list[Run], what: str) -> float:
    return statistics.median(run.get(what, 0.0) for run in runs)


def losses(runs: dict[str, dict[str, list[Run]]]) -> Iterator[str]:
    """A row for each example and policy: means over seeds, with the standard deviation."""
    columns = ("step_ms", "sent MB", "last loss", "validation", "accuracy", "compressed")
    yield "| example | policy | seeds | " + " | ".join(columns) + " |"
    yield "|---" * (3 + len(columns)) + "|"
    for example, kinds in runs.items():
        for policy, of_kind in kinds.items():
            cells = [loss_cell(of_kind, column) for column in columns]
            yield f"| {example} | `{policy}` | {len(of_kind)} | " + " | ".join(cells) + " |"


def compressed(run: Run) -> float | None:
    """What part of the calls of the timed steps that were counted."""
    calls, coded = run.get("timed_calls") or sums(run.get("stats") or {})
    return coded / calls if calls else None


def loss_cell(runs: list[Run], column: str) -> str:
    if column == "last loss":
        # A step's loss depends on its samples: of the last tenth.
        values = [statistics.mean(r["losses"][-max(1, len(r["losses"]) // 10) :]) for r in runs]
    elif column == "compressed":
        values = [value for r in runs if (value := compressed(r)) is not None]
    elif column == "sent MB":
        values = [r["sent_bytes"] / 1e6 for r in runs if r.get("sent_bytes")]
    else:
        values = [r[column] for r in runs if column in r]
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.3g}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.5g}{spread}"
