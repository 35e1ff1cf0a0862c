"""`thinwire report`: the ranks' traces of a job as one page, or as JSON; its reports as sums, for
Prometheus and for the system's log."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from thinwire import files, reports, traces
from thinwire.cli.shim import fail, warn
from thinwire.reports import line, metrics
from thinwire.reports.read import is_report
from thinwire.reports.sums import short
from thinwire.traces.page import page
from thinwire.traces.steps import said
from thinwire.traces.steps_plot import plot

PAGE = Path("report.html")


def report(
    named: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What --trace or --report named, or files of ranks, as in trace.rank0.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The page to write.", dir_okay=False, show_default=str(PAGE)
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the merged figures as JSON, and write no page.")
    ] = False,
    prometheus: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.prom", help="Write a report's sums for Prometheus' node_exporter."
        ),
    ] = None,
    syslog: Annotated[
        bool,
        typer.Option("--syslog", help="Write a report's sums as one line of the system's log."),
    ] = False,
    job: Annotated[
        str | None,
        typer.Option(
            envvar="SLURM_JOB_ID",
            show_envvar=True,
            metavar="NAME",
            help="What the job is called there; else the first file's name.",
        ),
    ] = None,
) -> None:
    """Show what a program sent to whom, how, and why the rest stayed raw.

    Merges the ranks' traces (thinwire run --trace) into one HTML page that needs no other file and
    no network. Of reports (--report FILE) it prints the sums in one line. A file that is damaged is
    named and left out, and the exit status is then 1.
    """
    if prometheus is not None and prometheus.suffix != ".prom":
        fail(f"{prometheus}: node_exporter reads files whose names end in .prom")
    try:
        paths = traces.files_of(named)
    except traces.NotATrace as error:
        fail(str(error))
    if not is_report(paths):
        if prometheus is not None or syslog:
            fail(f"{paths[0]}: no report: --prometheus and --syslog take what --report FILE wrote")
        return _show_traces(named, output or PAGE, as_json)
    if output is not None:
        fail("reports have no page: name traces, or leave out --output")
    merged = reports.merge(paths, short(job or named[0].name), _say)
    if merged.reports == 0:
        fail("no report could be read")
    _hand_on(merged, prometheus, syslog, as_json)
    if merged.left_out:
        raise typer.Exit(1)


def _say(error: str) -> None:
    typer.echo(f"thinwire: error: {error}", err=True)


def _hand_on(merged: reports.Merged, prometheus: Path | None, syslog: bool, as_json: bool) -> None:
    if prometheus is not None:
        files.replace(prometheus, metrics.text(merged).encode())
    if as_json:
        print(json.dumps(merged.as_dict(), indent=2))
    elif prometheus is None and not syslog:
        print(line.line(merged))
    if syslog:
        line.log(merged)


def _print_steps(steps: dict[str, Any]) -> None:
    console = Console(highlight=False, markup=False)
    is_terminal = console.is_terminal
    drawn = plot(steps, console.width) if is_terminal else plot(steps)
    for sentence in (said(steps), *drawn[:1]):
        console.print(sentence, soft_wrap=not is_terminal)
    print("".join(f"{row}\n" for row in drawn[1:]), end="")


def _show_traces(named: list[Path], output: Path, as_json: bool) -> None:
    # An error itself would keep what was read until then.
    left_out: list[str] = []
    try:
        merged = traces.merge_files(named, warn, lambda error: left_out.append(str(error)))
    except traces.NotATrace as error:
        for each in left_out:
            _say(each)
        fail(str(error))
    for each in left_out:
        _say(each)
    if as_json:
        print(json.dumps(merged.as_dict(), indent=2))
    else:
        files.write(output, page(merged, named[0].name).encode())
        if merged.steps is not None:
            _print_steps(merged.steps)
        print(output)
    if left_out:
        raise typer.Exit(1)
