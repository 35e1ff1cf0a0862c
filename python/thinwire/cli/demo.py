"""`thinwire demo`: an unmodified MPI program over slow links, with and without compression."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from thinwire import files
from thinwire.cli.values import Device

if TYPE_CHECKING:
    from ..demo.engine import Outcome

FULL_REPEATS = 2
QUICK_REPEATS = 1


def demo(
    output_dir: Annotated[
        Path, typer.Option(help="Where report.json and report.png are written.")
    ] = Path("build/demo"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small grid and one run of each: figures are rough.")
    ] = False,
    device: Annotated[
        Device, typer.Option(help="auto: GPUs where the machine has some.")
    ] = Device.AUTO,
    wave: Annotated[
        Path | None, typer.Option(help="The wave program, if not build/release/bin/wave.")
    ] = None,
) -> None:
    """Run a wave solver over slow links, raw and compressed, and compare.

    On CPUs over 100 Mbit/s and 1 Gbit/s. On GPUs over 10 and 25 Gbit/s, against messages that are
    staged through host memory by hand.
    """
    from ..demo.bars import write_bars
    from ..demo.device import choose_device, rates_for, size_for
    from ..demo.engine import Session, run_all
    from ..demo.links import each_link
    from ..demo.report import write_report
    from ..demo.runs import DemoError, find_wave
    from ..demo.table import heading, legend, notes, print_rows
    from ..lab import LabError

    messages, console = Console(stderr=True), Console()
    files.expect(output_dir / "report.json")
    try:
        program = find_wave(wave)
        chosen = choose_device(device, program, messages.print)
        session = Session(
            wave=program,
            size=size_for(chosen, quick),
            repeats=QUICK_REPEATS if quick else FULL_REPEATS,
            progress=_progress(messages),
            device=chosen,
        )
        console.print(heading(session), highlight=False)
        outcome = run_all(session, each_link(rates_for(chosen), messages.print))
    except (DemoError, LabError) as error:
        messages.print(f"[red]demo:[/red] {error}", highlight=False)
        raise typer.Exit(1) from error

    write_report(outcome.rows, output_dir / "report.json")
    write_bars(output_dir / "report.json", output_dir / "bars.svg")
    picture = _draw(outcome, output_dir / "report.png")
    for link in dict.fromkeys(row.link for row in outcome.rows):
        rows = [row for row in outcome.rows if row.link == link]
        print_rows(console, rows)
        console.print(*notes(rows), sep="\n")
        console.print()
    console.print(*legend(session), "", sep="\n", highlight=False)
    console.print(f"Written: {output_dir / 'report.json'}, bars.svg{picture}", markup=False)
    if not all(row.verified for row in outcome.rows):
        raise typer.Exit(1)


def _draw(outcome: "Outcome", path: Path) -> str:
    """Draws the picture if there is matplotlib; returns what to say of it."""
    from ..demo.picture import draw

    try:
        draw(outcome.rows, outcome.fields, path)
    except ModuleNotFoundError as error:
        return f". No picture: {error}; pip install 'thinwire[demo]'"
    return f", {path.name}"


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
