"""`thinwire reproduce`: published figures beside ours, and their commands run here."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from thinwire.bench.layout import print_cells, print_wrapped
from thinwire.bench.output import Column, number, print_json, print_table, say
from thinwire.reproduce.needs import unmet
from thinwire.reproduce.rows import FIGURES, SOURCES, Case, Row, as_json, counted, read_rows
from thinwire.reproduce.run import QUICK, QUICK_SECONDS, Outcome, run
from thinwire.reproduce.traits import all_traits, write_file

SHORT = 4  # cases of a row in the list


def reproduce(
    name: Annotated[str, typer.Argument(help="A row of the list; none: the list.")] = "",
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Small runs for two processors without a GPU, 10 minutes."),
    ] = False,
    stand_ins: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write generated stand-ins for data sets there, and show their traits.",
        ),
    ] = None,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show published figures beside ours; run the command of one if this machine allows.

    Figures of ours are recorded ones: bench/results of the source tree has the runs. With --quick
    alone all small runs follow one another.
    """
    if stand_ins is not None:
        _write_stand_ins(stand_ins, json_wanted)
        return
    rows = {row.name: row for row in read_rows()}
    if name and name not in rows:
        raise typer.BadParameter(f"there is no row {name!r}: thinwire reproduce lists them")
    chosen = [rows[name]] if name else list(rows.values())
    if not name and not quick:
        _print_list(chosen, json_wanted)
        return
    if name and not json_wanted:
        _show(rows[name])
    outcomes = _run_all(chosen, quick, json_wanted)
    if json_wanted:
        made = [asdict(outcome) | {"row": as_json(rows[outcome.name])} for outcome in outcomes]
        print(json.dumps({"note": QUICK if quick else "", "outcomes": made}, indent=2))
    else:
        _print_rest(outcomes, name)
    if any(outcome.did_run and outcome.code for outcome in outcomes):
        raise typer.Exit(1)


def _write_stand_ins(folder: Path, json_wanted: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = all_traits()
    for each in found:
        write_file(f"{each.set}.{each.dtype}", folder)
    if json_wanted:
        print_json(found)
        return
    print_table(found, TRAITS)
    print_wrapped("None is the set that it is named after; what is published is of the real one.")


def _beside(ours: str, published: str) -> Column:
    heading = ours.replace("_", " ")
    return (
        f"{heading}, published",
        lambda each: (
            f"{number(getattr(each, ours), '.5g')}, {number(getattr(each, published), '.5g')}"
        ),
    )


TRAITS: list[Column] = [
    ("stand-in", lambda each: each.set),
    ("type", lambda each: each.dtype),
    ("values", lambda each: str(each.values)),
    _beside("unique", "published_unique"),
    ("entropy", lambda each: f"{each.entropy:.5g}"),
    _beside("mpc", "published_mpc"),
    _beside("ndzip_leaves", "published_ndzip_leaves"),
]


def _run_all(rows: list[Row], quick: bool, json_wanted: bool) -> list[Outcome]:
    """What became of each row's command, within ten minutes if all are quick ones."""
    end = time.monotonic() + QUICK_SECONDS
    outcomes = []
    for row in rows:
        command, needs = (row.quick, row.quick_needs) if quick else (row.command, row.needs)
        outcome = Outcome(row.name, command, reasons=_reasons(row, command, needs))
        left = end - time.monotonic() if quick else None
        if left is not None and left <= 0:
            outcome.reasons.append("the ten minutes were over")
        if not outcome.reasons:
            say(f"{row.name}: {command}{f' ({QUICK})' if quick else ''}")
            if quick and not json_wanted and len(rows) > 1:
                _print_cases(row)
            outcome = run(row.name, command, left, json_wanted)
        outcomes.append(outcome)
    return outcomes


def _reasons(row: Row, command: str, needs: tuple[str, ...]) -> list[str]:
    if not command:
        return [row.why if row.status == "not run" else "no small run: its command shows the whole"]
    return unmet(needs, command)


def _print_list(rows: list[Row], json_wanted: bool) -> None:
    if json_wanted:
        print(json.dumps([as_json(row) for row in rows], indent=2))
        return
    cells = [
        [row.name, SOURCES[row.source].split(",")[0], row.status, _in_short(row)] for row in rows
    ]
    print_cells(Console(), ["row", "source", "status", "theirs / ours"], cells)
    print_wrapped(f"{counted(rows)} thinwire reproduce ROW says all of one, and runs it.")


def _in_short(row: Row) -> str:
    """Their figures, each with ours, of the cases that have theirs; the first few."""
    cases = [case for case in row.cases if case.theirs]
    pairs = [f"{case.theirs} / {row.ours(case) or '-'}" for case in cases[:SHORT]]
    more = [f"{len(cases) - SHORT} more"] if len(cases) > SHORT else []
    return ", ".join([*pairs, *more]) or "no number in the text / -"


def _show(row: Row) -> None:
    lines = {
        "source": f"{SOURCES[row.source]}, {row.at}",
        "what": row.what,
        "they ran": row.ran,
        "against": row.against,
        "we ran": row.ours_ran,
        "recorded": f"bench/results/{_place(row)}" if row.recorded else "",
        "status": row.status,
        "why": row.why,
        "command": row.command,
        "quick": row.quick,
    }
    print_wrapped(row.name)
    for word, text in lines.items():
        if text:
            print_wrapped(f"  {word:9} {text}", hanging=" " * 12)
    _print_cases(row)


def _place(row: Row) -> str:
    page, _, rest = row.recorded.partition("/")
    table, _, run_name = rest.partition(":")
    return f"{page}/rows.md, table {table}, run {run_name}"


def _print_cases(row: Row) -> None:
    said = FIGURES[row.figure][0]
    unit = f" ({row.unit})" if row.unit else ""
    heads = ["case", "theirs", "ours", "against our raw", f"native{unit}", "raw", "compressed"]
    print_cells(Console(), [*heads, "figure"], [[*_cells(row, case), said] for case in row.cases])


def _cells(row: Row, case: Case) -> list[str]:
    found = [case.of, case.theirs, row.ours(case), row.ours(case, "raw")]
    return [each or "-" for each in (*found, case.native, case.raw, case.coded)]


def _print_rest(outcomes: list[Outcome], name: str) -> None:
    """The rows that did not run, and why; those that failed, and how many did neither."""
    for outcome in outcomes:
        if outcome.reasons:
            head = "not run here" if name else f"{outcome.name} was not run"
            print_wrapped(f"{head}: {'; '.join(outcome.reasons)}", hanging="    ")
        elif outcome.code:
            print_wrapped(f"{outcome.name} failed: it ended with {outcome.code}")
    if not name:
        ran = [outcome for outcome in outcomes if outcome.did_run]
        seconds = sum(outcome.seconds for outcome in ran)
        failed = sum(bool(outcome.code) for outcome in ran)
        print_wrapped(
            f"{len(ran)} of {len(outcomes)} rows ran, in {seconds:.0f} s; {failed} failed"
        )
