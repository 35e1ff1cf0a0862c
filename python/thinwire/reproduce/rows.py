"""Published figures beside ours, as `rows/*.toml` keep them: a file a source, a table a headline.

at, what, ran, against   the place in the source, what was measured, on what, and against what
figure, unit             what a figure says (see `FIGURES`); the unit of our native, raw, coded
cases                    `of` what, `theirs` as printed (empty: none in the text), and ours: times
                         `native`, `raw` by our own schedule, and `coded`; `ours` as recorded if
                         it does not follow from these
status, why              measured, simulated or not run; why ours differ, or were not run
from, ours_ran           bench/results/PAGE/rows.md as PAGE/TABLE:RUN; what ours ran on
command, needs           what measures it, and what that needs here
quick, quick_needs       the same, small, for two processors without a GPU

Imports nothing of this package: tools of the source tree load this file alone.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "rows"
STATUSES = ("measured", "simulated", "not run")
SOURCES = {
    "zhou2021": "Zhou et al., IPDPS 2021",
    "gzccl2024": "Huang et al. (gZCCL), ICS 2024",
    "vogel2023": "Vogel and Oden, slides, 2023",
    "mvapich2023": "MVAPICH team, slides, 2023",
}


def _saved(base: Decimal, coded: Decimal) -> str:
    return f"{100 * (coded / base - 1):+.1f}%"


def _times(base: Decimal, coded: Decimal) -> str:
    return f"{base / coded:.3g}x"


def _more(base: Decimal, coded: Decimal) -> str:
    return f"{100 * (base / coded - 1):+.1f}%"


# A figure of a time with compression beside one without, in words and computed; None: it is as
# recorded.
FIGURES: dict[str, tuple[str, Callable[[Decimal, Decimal], str] | None]] = {
    "saved": ("change of the time", _saved),
    "times": ("times as fast", _times),
    "more": ("more in the same time", _more),
    "stated": ("as recorded", None),
}


@dataclass(frozen=True)
class Case:
    """One figure of a headline: theirs as printed, ours as recorded, each empty if there is
    none."""

    of: str
    theirs: str
    native: str = ""
    raw: str = ""
    coded: str = ""
    ours: str = ""
    source: str = ""  # where ours are recorded, if not where the row's are

    @property
    def recorded(self) -> list[str]:
        """The numbers of ours that a measurement has left."""
        return [each for each in (self.native, self.raw, self.coded, self.ours) if each]


@dataclass(frozen=True)
class Row:
    """A headline of a source."""

    name: str
    source: str
    at: str
    what: str
    ran: str
    against: str
    figure: str
    why: str
    cases: tuple[Case, ...]
    status: str = "measured"
    unit: str = ""
    recorded: str = ""
    ours_ran: str = ""
    command: str = ""
    needs: tuple[str, ...] = ()
    quick: str = ""
    quick_needs: tuple[str, ...] = field(default=())

    def ours(self, case: Case, base: str = "native") -> str:
        """Our figure of a case against its native time, or against `raw`; empty if there is
        none."""
        form, before = FIGURES[self.figure][1], getattr(case, base)
        if base == "native" and case.ours:
            return case.ours
        if form and before and case.coded:
            return form(Decimal(before), Decimal(case.coded))
        return ""

    @property
    def is_paired(self) -> bool:
        """Whether a figure of ours stands beside one of theirs of the same kind."""
        return any(case.theirs and self.ours(case) for case in self.cases)

    @property
    def has_figures(self) -> bool:
        return any(case.recorded for case in self.cases)


def read_rows(folder: Path = FOLDER) -> list[Row]:
    """All rows, in the order of the sources."""
    found: list[Row] = []
    for source in SOURCES:
        tables = tomllib.loads((folder / f"{source}.toml").read_text())
        found += [_row(name, source, fields) for name, fields in tables.items()]
    return found


def counted(rows: list[Row]) -> str:
    """How many rows and printed figures have ours beside them."""
    by = ", ".join(f"{sum(row.status == each for row in rows)} {each}" for each in STATUSES)
    alone = sum(row.has_figures and not row.is_paired for row in rows)
    pairs = [bool(row.ours(case)) for row in rows for case in row.cases if case.theirs]
    return (
        f"{len(rows)} rows: {by}; {alone} of the measured ones have figures of other kinds alone. "
        f"{sum(pairs)} of {len(pairs)} printed figures have ours beside them."
    )


def _row(name: str, source: str, fields: dict[str, Any]) -> Row:
    try:
        cases = tuple(_case(each) for each in fields.pop("cases"))
        known: dict[str, Any] = {"recorded": fields.pop("from", ""), "cases": cases}
        known |= {key: tuple(fields.pop(key, ())) for key in ("needs", "quick_needs")}
        return Row(name=name, source=source, **known, **fields)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{source}.toml: {name}: {error}") from None


def _case(fields: dict[str, str]) -> Case:
    return Case(source=fields.pop("from", ""), **fields)


def as_json(row: Row) -> dict[str, Any]:
    """A row as programs read it, with what its cases come to."""
    found = {key: value for key, value in vars(row).items() if value not in ("", ())}
    found["source"] = SOURCES[row.source]
    found["cases"] = [
        {key: value for key, value in vars(case).items() if value}
        | {key: value for key, value in _figures(row, case).items() if value}
        for case in row.cases
    ]
    return found


def _figures(row: Row, case: Case) -> dict[str, str]:
    return {"ours": row.ours(case), "ours_against_raw": row.ours(case, "raw")}
