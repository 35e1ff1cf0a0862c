"""Measured rows and the runs that they come from, as `bench/results/` keeps them."""

import csv
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

Row = dict[str, str]
FENCE = "```"


class BadData(Exception):
    """Something that a person wrote, and has to change."""


@dataclass(frozen=True)
class Run:
    """A measurement, as it was made. `command` may be empty if `how` says it in words."""

    date: str
    machine: str
    commit: str
    verified: str
    command: str = ""
    how: str = ""

    @property
    def head(self) -> str:
        return f"{self.date}, {self.machine}, {self.commit}"


def runs_of(folder: Path) -> dict[str, Run]:
    found = {}
    for name, fields in tomllib.loads((folder / "runs.toml").read_text()).items():
        try:
            run = Run(**{key: value.strip() for key, value in fields.items()})
        except TypeError as error:
            raise BadData(f"{folder.name}/runs.toml: {name}: {error}") from None
        empty = [key for key in ("date", "machine", "commit", "verified") if not getattr(run, key)]
        if empty or not (run.command or run.how):
            missing = ", ".join(empty) or "command or how"
            raise BadData(f"{folder.name}/runs.toml: {name} says no {missing}")
        found[name] = run
    return found


def tables_of(path: Path, runs: dict[str, Run]) -> dict[str, list[Row]]:
    """The tables of a rows.md by their headings; each is a block of comma-separated rows."""
    found: dict[str, list[Row]] = {}
    name = ""
    lines = enumerate(path.read_text().splitlines(), 1)
    for at, line in lines:
        if heading := re.fullmatch(r"## (\S+)", line):
            name = heading[1]
        elif line == f"{FENCE}text":
            if not name or name in found:
                raise BadData(f"{path.name}:{at}: a table wants a heading `## name` of its own")
            inside = iter(lambda: next(lines, (0, FENCE))[1], FENCE)
            found[name] = rows_of(f"{path.name}:{name}", list(inside), at + 1, runs)
        elif line and at > 1:
            raise BadData(f"{path.name}:{at}: neither a heading nor a table")
    return found


def rows_of(table: str, lines: list[str], first: int, runs: dict[str, Run]) -> list[Row]:
    """The rows of a table whose first line has that number, each of which names its run."""
    reader = csv.DictReader(lines)
    heads = list(reader.fieldnames or [])
    if "run" not in heads or len(set(heads)) != len(heads):
        raise BadData(f"{table}: its first line wants a column `run`, and each column once")
    rows = list(reader)
    for number, row in enumerate(rows, first + 1):
        if None in row or None in row.values():
            raise BadData(f"{table}:{number}: more or fewer cells than the first line has")
        if row["run"] not in runs:
            raise BadData(f"{table}:{number}: no run `{row['run']}` in runs.toml")
    return rows


def chosen(rows: Iterable[Row], where: dict[str, str | list[str]]) -> list[Row]:
    """The rows whose cells are those of `where`, in the order of the file."""
    wanted = {key: [each] if isinstance(each, str) else each for key, each in where.items()}
    return [row for row in rows if all(row[key] in values for key, values in wanted.items())]


def number(cell: str) -> Decimal | None:
    """A cell's number; None for an empty one and for words."""
    try:
        found = Decimal(cell)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def numbers(rows: Iterable[Row], column: str) -> list[Decimal]:
    return [found for row in rows if (found := number(row[column])) is not None]
