"""The table of published figures beside ours, from the rows of `thinwire reproduce`, each number of
ours held against the rows of bench/results that it is of."""

import re
from decimal import Decimal
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from results.rows import BadData, chosen, runs_of, tables_of

REPRODUCE = "python/thinwire/reproduce"
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
MOST = 3  # cases of a row on the page
MOST_OTHERS = 2  # if none has a figure of theirs and of ours


@cache
def rows_module(root: Path) -> ModuleType:
    """rows.py of the tree alone: the package around it may be another tree's."""
    spec = spec_from_file_location("reproduce_rows", root / REPRODUCE / "rows.py")
    if spec is None or spec.loader is None:
        raise BadData(f"{REPRODUCE}/rows.py is not there")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_markdown(root: Path) -> str:
    module = rows_module(root)
    rows = module.read_rows(root / REPRODUCE / "rows")
    check(root, rows)
    lines = ["| row | source | theirs | ours |", "|---|---|---|---|"]
    above = ""
    for row in rows:
        source = module.SOURCES[row.source] if row.source != above else ""
        above = row.source
        lines.append(f"| `{row.name}` | {source} | {theirs(row)} | {ours(row)} |")
    return "\n".join([*lines, "", module.counted(rows)])


def theirs(row: Any) -> str:
    cases = [case for case in row.cases if case.theirs]
    said = [f"{case.of}: {case.theirs}" for case in cases[:MOST]]
    more = [f"{len(cases) - MOST} more"] if len(cases) > MOST else []
    return "; ".join([*said, *more]) or "no number in the text"


def ours(row: Any) -> str:
    if row.status == "not run":
        return "not run"
    cases = [case for case in row.cases if case.theirs][:MOST]
    if not row.is_paired:
        others = [case for case in row.cases if row.ours(case)][:MOST_OTHERS]
        return "of other kinds: " + "; ".join(f"{case.of}: {row.ours(case)}" for case in others)
    said = ", ".join(row.ours(case) or "–" for case in cases)
    unit = f" {row.unit}" if row.figure == "stated" else ""
    return f"{said}{unit}{' (simulated)' if row.status == 'simulated' else ''}"


def check(root: Path, rows: list[Any]) -> None:
    """BadData if a number of ours is not in the rows that it names."""
    for row in rows:
        for case in row.cases:
            missing = case.recorded and _missing(root, case, case.source or row.recorded)
            if missing:
                raise BadData(f"{row.name}: {case.of}: {missing}")


def _missing(root: Path, case: Any, place: str) -> str:
    match = re.fullmatch(r"([\w-]+)/([\w-]+):([\w-]+)", place)
    if match is None:
        return f"`{place}` is no PAGE/TABLE:RUN"
    page, table, run = match.groups()
    found = _tables(root / "bench" / "results" / page)
    rows = chosen(found.get(table, []), {"run": run})
    if not rows:
        return f"bench/results/{page}/rows.md has no row of `{run}` in {table}"
    numbers = {Decimal(each) for row in rows for cell in row.values() for each in _numbers(cell)}
    lost = [
        each for text in case.recorded for each in _numbers(text) if Decimal(each) not in numbers
    ]
    return f"{', '.join(lost)} is not in {place}" if lost else ""


@cache
def _tables(folder: Path) -> dict[str, list[dict[str, str]]]:
    if not (folder / "rows.md").is_file():
        return {}
    return tables_of(folder / "rows.md", runs_of(folder))


def _numbers(text: str) -> list[str]:
    return NUMBER.findall(text)
