"""`thinwire demo`: an unmodified MPI program over slow links, with and without compression."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

FULL_REPEATS = 2
QUICK_REPEATS = 1


def demo(
    output_dir: Annotated[
        Path, typer.Option(help="Where report.json and report.png are written.")
    ] = Path("build/demo"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small grid and one run of each: figures are rough.")
    ] = False,
    wave: Annotated[
        Path | None, typer.Option(help="The wave program, if not build/release/bin/wave.")
    ] = None,
) -> None:
    """Run a wave solver over 100 Mbit/s and 1 Gbit/s links, raw and compressed, and compare."""
    from ..demo.engine import Session, run_all
    from ..demo.links import RATES, each_link
    from ..demo.picture import draw
    from ..demo.report import write_report
    from ..demo.runs import FULL, QUICK, DemoError, find_wave
    from ..demo.speed import codec_speed
    from ..demo.table import build_table, notes
    from ..lab import LabError

    messages, console = Console(stderr=True), Console()
    try:
        program = find_wave(wave)
        session = Session(
            wave=program,
            size=QUICK if quick else FULL,
            repeats=QUICK_REPEATS if quick else FULL_REPEATS,
            speed_of=codec_speed,
            progress=_progress(messages),
        )
        outcome = run_all(session, each_link(RATES, messages.print))
    except (DemoError, LabError) as error:
        messages.print(f"[red]demo:[/red] {error}", highlight=False)
        raise typer.Exit(1) from error

    write_report(outcome.rows, output_dir / "report.json")
    draw(outcome.rows, outcome.fields, output_dir / "report.png")
    for link in dict.fromkeys(row.link for row in outcome.rows):
        rows = [row for row in outcome.rows if row.link == link]
        console.print(build_table(rows), *notes(rows), sep="\n")
        console.print()
    console.print(f"Written: {output_dir / 'report.json'} and {output_dir / 'report.png'}")
    if not all(row.verified for row in outcome.rows):
        raise typer.Exit(1)


def _progress(console: Console) -> Callable[[str], AbstractContextManager[None]]:
    """A spinner with the seconds so far around each run; one line per run where no one watches."""

    @contextmanager
    def watch(words: str) -> Iterator[None]:
        if not console.is_terminal:
            print(words, file=sys.stderr, flush=True)
            yield
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task(words, total=1)
            yield
            progress.advance(task)

    return watch
