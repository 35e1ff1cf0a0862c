"""`thinwire bench raw`."""

from pathlib import Path
from typing import Annotated

import typer

from thinwire import array_files
from thinwire.bench import tables
from thinwire.bench.output import warn_if_busy
from thinwire.bench.programs import BenchError, find_program
from thinwire.bench.raw import PREPARED_BYTES, RawSession, Setting
from thinwire.bench.raw_rows import WANTED_PAIRS, RawRow, measure
from thinwire.bench.steps import steps
from thinwire.cli.bench_options import (
    Csv,
    Json,
    Links,
    Program,
    ShimSpec,
    Sizes,
    failure,
    finish,
    measure_places,
    message_sizes,
    parse_codecs,
)
from thinwire.lab import LabError


def raw(
    link: Links = "1gbit",
    loopback: Annotated[
        bool, typer.Option("--loopback", help="Both ranks on this host, without a lab.")
    ] = False,
    sizes: Sizes = "1MiB,4MiB,16MiB,64MiB",
    pairs: Annotated[
        str, typer.Option(help="Pairs of messages to time: one number, or one for each size.")
    ] = str(WANTED_PAIRS),
    rounds: Annotated[
        int, typer.Option(min=1, help="Number of jobs, one after another, that share the pairs.")
    ] = 1,
    setting: Annotated[
        Setting,
        typer.Option(
            help="prepared: every receive is prepared for a compressed message. default: as under "
            "`thinwire run`. guarded: the codec is named, and the library chooses. none: without "
            "the library in both jobs, which shows how exact the measurement is."
        ),
    ] = Setting.PREPARED,
    spec: ShimSpec = "zfp:rate=16",
    values: Annotated[
        Path | None,
        typer.Option(
            "--values",
            exists=True,
            dir_okay=False,
            help="A file of raw fp32 that messages are made of; else numbers in order.",
        ),
    ] = None,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Measure the time that the preload library adds to large messages that it does not compress.

    A job with the library and one without take turns, message by message, over the same link.
    """
    warn_if_busy()
    try:
        if values is not None and not array_files.has_raw_values(values):
            raise typer.BadParameter(f"{values.name}: --values takes a file of raw values")
        asked = message_sizes(sizes)
        if min(asked) < PREPARED_BYTES:
            raise typer.BadParameter(f"receives below {PREPARED_BYTES} bytes are never prepared")
        (codec,) = parse_codecs([spec])
        links = [] if loopback else link.split(",")
        with steps(max(1, len(links)) * rounds * len(asked)) as step:
            session = RawSession(
                program=find_program("raw_turns", program),
                sizes=asked,
                pairs=pairs_of_sizes(pairs, len(asked)),
                rounds=rounds,
                setting=setting,
                spec=codec.spec,
                progress=step,
                values=values,
            )
            rows = measure_places(links, 2, 1, RawRow, lambda place: measure(place, session))
    except (BenchError, LabError, ValueError) as error:
        raise failure(error) from error
    finish(rows, tables.RAW_COLUMNS, as_csv, as_json, tables.raw_notes(rows))


def pairs_of_sizes(text: str, sizes: int) -> tuple[int, ...]:
    """The pairs of each size, of "200" or "200,200,100,50"."""
    words = text.split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise typer.BadParameter(f"--pairs is numbers from 1 on, not {text}")
    if len(words) not in (1, sizes):
        raise typer.BadParameter(f"--pairs has {len(words)} numbers for {sizes} sizes")
    numbers = tuple(int(word) for word in words)
    return numbers * sizes if len(numbers) == 1 else numbers
