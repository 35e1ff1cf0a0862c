"""`thinwire bench ratio`: the committed ratios, measured again."""

from pathlib import Path
from typing import Annotated

import typer

from thinwire import files
from thinwire.bench import ratios, samples
from thinwire.bench.output import say
from thinwire.bench.steps import steps
from thinwire.cli.bench_options import failure


def ratio(
    write: Annotated[bool, typer.Option("--write", help="Write the file.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Compare with the file.")] = False,
    path: Annotated[
        Path | None, typer.Option("--file", help="Not bench/results/ratio.csv.", dir_okay=False)
    ] = None,
) -> None:
    """Ratios and errors of every codec on the CPU: printed as CSV, written or compared.

    On generated data, and on the files of the folder that $THINWIRE_DATA names. Lines of codecs and
    files that are not at hand stay as they are.
    """
    if write and check:
        raise typer.BadParameter("--write or --check, not both")
    place = ratios.find_csv(path)
    if place is None and (write or check):
        raise typer.BadParameter("no bench/results around here: pass --file")
    if write and place:
        files.expect(place)
    arrays = [*ratios.generated(), *ratios.files(lambda why: say(f"skipped {why}"))]
    if not samples.data_files():
        say(f"skipped the files: ${samples.DATA_FOLDER} names no folder of them")
    wanted = ratios.codecs_here(lambda why: say(f"skipped {why}"))
    found = list(ratios.measure(wanted, arrays, steps))
    failed = [row for row in found if row.ratio == ratios.FAILED]
    committed = ratios.read(place) if place and place.exists() else []
    if check:
        changes = ratios.differences(committed, found)
        for change in changes:
            print(change)
        say(f"{len(found)} lines measured, {len(changes)} differ from {place}")
        raise typer.Exit(1 if changes else 0)
    text = ratios.as_csv(ratios.merged(committed if write else [], found))
    if write and failed:
        raise failure(f"{place} is left as it is: {len(failed)} lines failed")
    if write and place:
        place.write_text(text)
        say(f"{place}: {len(found)} lines measured")
    else:
        print(text, end="")
    if failed:
        raise typer.Exit(1)
