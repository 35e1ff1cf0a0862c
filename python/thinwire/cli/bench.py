"""`thinwire bench`."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from thinwire import dtypes
from thinwire.bench import codec as codec_bench
from thinwire.bench import overhead as overhead_bench
from thinwire.bench import samples, tables
from thinwire.bench.output import (
    Column,
    print_csv,
    print_json,
    print_table,
    progress,
    say,
    warn_if_busy,
)
from thinwire.bench.p2p import STARTUP_BYTES, Session, expect_all, run_link
from thinwire.bench.p2p_rows import make_rows
from thinwire.bench.programs import BenchError, LabPlace, Loopback, Place, find_program
from thinwire.codec import Codec
from thinwire.lab import Lab, LabError, LabUnavailable
from thinwire.library import parse_size

app = typer.Typer(help="Measure codecs and messages on this machine.", no_args_is_help=True)

Specs = Annotated[
    list[str] | None,
    typer.Option("--codec", help="Codec spec, as in zfp:rate=16; may be repeated.", metavar="SPEC"),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Program = Annotated[
    Path | None, typer.Option(help="The compiled program, if not the one in build/release/bin.")
]


@app.command()
def codec(
    specs: Specs = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="A file whose suffix is its dtype."),
    ] = None,
    dtype: Annotated[str, typer.Option(help="Element type of generated data.")] = "f32",
    size: Annotated[str, typer.Option(help="Bytes of generated data.")] = "16MiB",
    runs: Annotated[int, typer.Option(min=1, help="The fastest of so many counts.")] = 9,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Speed on one thread, ratio and error of codecs, on generated data and on files.

    The files are those given, else those of the folder that $THINWIRE_DATA names.
    """
    if dtype not in dtypes.CODES:
        raise typer.BadParameter(f"no dtype '{dtype}': {', '.join(dtypes.CODES)}")
    nbytes = parse_size(size)
    arrays = [samples.generate(name, dtype, nbytes) for name in samples.GENERATORS]
    arrays += samples.read_all(data or samples.data_files(), lambda why: say(f"skipped {why}"))
    warn_if_busy()
    rows = []
    for each in parse_codecs(specs or codec_bench.default_specs()):
        for sample in arrays:
            if sample.dtype not in codec_bench.row_of(each).dtypes:
                say(f"skipped {sample.name}: {each.spec} does not take {sample.dtype}")
                continue
            with progress(f"{each.spec} on {sample.name}"):
                rows.append(codec_bench.measure(each, sample, runs))
    finish(rows, tables.CODEC_COLUMNS, as_csv, as_json)


@app.command()
def p2p(
    specs: Specs = None,
    hosts: Annotated[int, typer.Option(min=2, help="Hosts of the lab; 0 and 1 talk.")] = 2,
    link: Annotated[str, typer.Option(help="Rates of the lab's links, as in 100mbit,1gbit.")] = (
        "1gbit"
    ),
    loopback: Annotated[bool, typer.Option("--loopback", help="On this host, no lab.")] = False,
    sizes: Annotated[str, typer.Option(help="Message sizes.")] = "64KiB,256KiB,1MiB,4MiB,16MiB",
    iterations: Annotated[int, typer.Option(min=1, help="Timed messages a round.")] = 10,
    rounds: Annotated[int, typer.Option(min=1, help="Native and every codec by turns.")] = 3,
    data: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="fp32 values to send; else smooth ones."),
    ] = None,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """One-way time of MPI messages between two hosts, native and compressed in alternation.

    Each link is a lab of its own; where this machine permits none, one host stands for both.
    """
    warn_if_busy()
    rows = []
    try:
        session = Session(
            program=find_program("p2p", program),
            values=fp32_values(data, max(message_sizes(sizes))),
            sizes=message_sizes(sizes),
            codecs=tuple(parse_codecs(specs or ["zfp:rate=16", "zfp:rate=8"])),
            iterations=iterations,
            rounds=rounds,
            progress=progress,
        )
        for place in places([] if loopback else link.split(","), hosts):
            expected = expect_all(session)
            rows += make_rows(place, run_link(place, session), expected)
    except (BenchError, LabError, ValueError) as error:
        raise failure(error) from error
    finish(rows, tables.P2P_COLUMNS, as_csv, as_json, tables.p2p_notes(rows))


@app.command()
def overhead(
    spec: Annotated[str, typer.Option("--codec", metavar="SPEC", help="What the shim has set.")] = (
        "zfp:rate=16"
    ),
    alternations: Annotated[int, typer.Option(min=1, help="Native and shim by turns.")] = 5,
    batches: Annotated[int, typer.Option(min=1, help="Batches of 200 pairs a size.")] = 400,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """What the preload library adds to small messages, which it never compresses."""
    warn_if_busy()
    try:
        path = find_program("overhead", program)
        rows = overhead_bench.measure(path, spec, alternations, batches, progress)
    except BenchError as error:
        raise failure(error) from error
    finish(rows, tables.OVERHEAD_COLUMNS, as_csv, as_json)


def parse_codecs(specs: Sequence[str]) -> list[Codec]:
    """The codecs of these specs, each once; exits for one that is none."""
    found = {each.spec: each for each in map(Codec, specs)}
    for each in found.values():
        try:
            codec_bench.row_of(each)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    return list(found.values())


def message_sizes(text: str) -> tuple[int, ...]:
    """Bytes of "64KiB,1MiB", each a whole number of fp32 values."""
    sizes = tuple(dict.fromkeys(parse_size(word) for word in text.split(",")))
    for size in sizes:
        if size % 4 or size <= STARTUP_BYTES:
            raise typer.BadParameter(
                f"{size} bytes: messages are fp32 and have more than {STARTUP_BYTES} bytes"
            )
    return sizes


def fp32_values(path: Path | None, nbytes: int) -> np.ndarray:
    """The values to send: those of a file over and over, or generated ones."""
    if path is None:
        return samples.generate("smooth", "f32", nbytes).values
    sample = samples.read(path)
    if sample.dtype != "f32":
        raise ValueError(f"{path.name}: messages are f32, not {sample.dtype}")
    return np.resize(sample.values, nbytes // 4)


def places(links: Sequence[str], hosts: int) -> Iterator[Place]:
    """One link after another, each open until the next is asked for. Loopback where none is
    wanted, or where this machine permits no lab, after saying why."""
    if not links:
        yield Loopback()
    for link in links:
        with ExitStack() as stack:
            try:
                lab = stack.enter_context(Lab(hosts=hosts, link=link, name="bench"))
            except LabUnavailable as error:
                say(f"No lab on this machine ({error}): loopback instead, where nothing is slow.")
                yield Loopback()
                return
            yield LabPlace(lab)


def finish(
    rows: list[Any],
    columns: Sequence[Column],
    as_csv: bool,
    as_json: bool,
    notes: Sequence[str] = (),
) -> None:
    """Prints the rows; exits with 1 where one is not verified, or there is none."""
    if as_json:
        print_json(rows)
    elif as_csv:
        print_csv(rows)
    else:
        print_table(rows, columns, notes)
    if not rows or not all(row.verified for row in rows):
        raise typer.Exit(1)


def failure(error: Exception) -> typer.Exit:
    say(f"thinwire: error: {error}")
    return typer.Exit(1)
