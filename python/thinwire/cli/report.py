"""`thinwire report`: the ranks' traces of a job as one page, or as JSON."""

import json
from pathlib import Path
from typing import Annotated

import typer

from thinwire import files, traces
from thinwire.cli.shim import fail, warn
from thinwire.traces.page import page
from thinwire.traces.steps import said


def report(
    trace: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...", help="What --trace named, or files of ranks, as in trace.rank0."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write.", dir_okay=False)
    ] = Path("report.html"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the merged figures as JSON, and write no page.")
    ] = False,
) -> None:
    """Show what an MPI program sent to whom, how, and why the rest stayed raw.

    Merges the ranks' traces (thinwire run --trace) into one HTML page that needs no other file and
    no network.
    """
    warnings: list[str] = []
    try:
        found = traces.read_all(trace, warnings.append)
    except traces.NotATrace as error:
        fail(str(error))
    for each in warnings:
        warn(each)
    merged = traces.merge(found, warnings)
    if as_json:
        print(json.dumps(merged.as_dict(), indent=2))
        return
    files.write(output, page(merged, trace[0].name).encode())
    if merged.steps is not None:
        print(said(merged.steps))
    print(output)
