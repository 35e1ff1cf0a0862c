"""Measured rows and the runs that they come from, as `bench/results/` keeps them."""

import csv
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

Row = dict[str, str]


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


def rows_of(path: Path, runs: dict[str, Run]) -> list[Row]:
    """The rows of a file, each of which names its run."""
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        heads = list(reader.fieldnames or [])
        rows = list(reader)
    if "run" not in heads or len(set(heads)) != len(heads):
        raise BadData(f"{path.name}: its first line wants a column `run`, and each column once")
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise BadData(f"{path.name}:{number}: more or fewer cells than the first line has")
        if row["run"] not in runs:
            raise BadData(f"{path.name}:{number}: no run `{row['run']}` in runs.toml")
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
