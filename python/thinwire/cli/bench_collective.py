"""`thinwire bench collective`."""

from pathlib import Path
from typing import Annotated

import typer

from thinwire import dtypes
from thinwire.bench import collective_tables, generators, samples
from thinwire.bench.breakdown import draw
from thinwire.bench.collective import CollectiveSession, run_operations
from thinwire.bench.collective_rows import CollectiveRow, make_rows, without_schedules
from thinwire.bench.output import say, warn_if_busy
from thinwire.bench.programs import BenchError, Place, find_program
from thinwire.bench.samples import Sample
from thinwire.bench.steps import steps
from thinwire.cli import values
from thinwire.cli.bench_options import (
    Breakdown,
    Csv,
    GeneratedValues,
    Json,
    LabHosts,
    Links,
    LoopbackOption,
    MemoryOption,
    Program,
    RankCount,
    Specs,
    ValuesDtype,
    ValuesFile,
    failure,
    finish,
    measure_places,
    write_picture,
)
from thinwire.cli.values import Memory
from thinwire.codec import Codec
from thinwire.comm.operation_names import algorithms, codings, operations
from thinwire.lab import LabError
from thinwire.library import parse_size

# Sizes are whole numbers of any element type.
WIDEST_ELEMENT = 8
FLOATS = dtypes.ADDED


def collective(
    op: Annotated[
        str, typer.Option(help="Operations, as in bcast,allgather; or all of them: all.")
    ] = ("bcast,allgather,allreduce"),
    size: Annotated[
        str,
        typer.Option(
            help="Size in bytes of the array (bcast, reduce, allreduce) or of one rank's block.",
            metavar="SIZES",
            callback=values.sizes,
        ),
    ] = "8MiB",
    specs: Specs = None,
    algorithm: Annotated[
        str, typer.Option(help="Algorithms, as in planned,ring,direct.")
    ] = "planned",
    coding: Annotated[
        str, typer.Option(help="Where values are encoded, as in once,per-hop,two-level.")
    ] = "planned",
    hosts: LabHosts = 4,
    ranks: RankCount = None,
    link: Links = "1gbit",
    loopback: LoopbackOption = False,
    file: ValuesFile = None,
    data: GeneratedValues = "wave",
    dtype: ValuesDtype = None,
    iterations: Annotated[
        int, typer.Option(min=1, help="How often every case takes its turn.")
    ] = 5,
    root: Annotated[int, typer.Option(min=0, help="The root of operations that have one.")] = 0,
    threshold: Annotated[
        str,
        typer.Option(
            help="Do not compress operations on fewer bytes.", metavar="SIZE", callback=values.size
        ),
    ] = "64KiB",
    piece: Annotated[
        str | None,
        typer.Option(
            help="Bytes to encode and send at a time; planned unless given.",
            metavar="SIZE",
            callback=values.size,
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Do not tell the library the link's rate: it assumes that the codec wins.",
        ),
    ] = False,
    memory: MemoryOption = Memory.HOST,
    breakdown: Breakdown = None,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Measure compressed collectives and the MPI's own, in turns in one job.

    Every result is verified. Each link is a lab of its own. If this machine does not permit labs,
    all ranks run on one host.
    """
    if ranks is None:
        ranks = hosts
    if root >= ranks:
        raise typer.BadParameter(f"--root: there is no rank {root} of {ranks}")
    warn_if_busy()
    links = [] if loopback else link.split(",")
    wanted = chosen_names("--op", op, operations(), whole="all")
    try:
        sizes = chosen_sizes(size)
        with steps(max(1, len(links)) * len(wanted)) as step:
            session = CollectiveSession(
                program=find_program("collective", program),
                operations=wanted,
                sizes=sizes,
                codecs=tuple(dict.fromkeys(Codec(spec).spec for spec in specs or ["zfp:rate=8"])),
                algorithms=chosen_names("--algorithm", algorithm, algorithms()),
                codings=chosen_names("--coding", coding, codings()),
                ranks=ranks,
                root=root,
                iterations=iterations,
                threshold=parse_size(threshold),
                piece=parse_size(piece) if piece else 0,
                data=chosen_values(file, data, dtype, max(sizes) * ranks),
                memory=memory,
                trusted=trust,
                progress=step,
            )
            rows = measure_places(
                links, hosts, -(-ranks // hosts), CollectiveRow, lambda place: _rows(place, session)
            )
    except (BenchError, LabError, ValueError) as error:
        raise failure(error) from error
    write_picture(breakdown, draw, rows)
    finish(
        rows,
        collective_tables.COLLECTIVE_COLUMNS,
        as_csv,
        as_json,
        collective_tables.collective_notes(rows),
    )


def _rows(place: Place, session: CollectiveSession) -> list[CollectiveRow]:
    lines, left_out = without_schedules(run_operations(place, session))
    for each in left_out:
        way = f"{each['asked_algorithm']} {each['asked_coding']}"
        say(f"skipped {each['operation']} {way}: {each['error']}")
    return make_rows(place, session, lines)


def chosen_names(
    option: str, words: str, known: dict[str, int], whole: str = ""
) -> tuple[str, ...]:
    """The words of "ring,direct", all of them for `whole`."""
    if whole and words == whole:
        return tuple(known)
    found = tuple(dict.fromkeys(words.split(",")))
    for word in found:
        if word not in known:
            raise typer.BadParameter(f"{option}: {word!r} is none of {', '.join(known)}")
    return found


def chosen_sizes(text: str) -> tuple[int, ...]:
    """Bytes of "1MiB,8MiB", each a whole number of values of any type."""
    sizes = tuple(dict.fromkeys(parse_size(word) for word in text.split(",")))
    for size in sizes:
        if size % WIDEST_ELEMENT or not size:
            raise typer.BadParameter(f"--size: {size} bytes are no multiple of {WIDEST_ELEMENT}")
    return sizes


def chosen_values(file: Path | None, name: str, dtype: str | None, nbytes: int) -> Sample:
    """The values of a file, or generated ones, no more than are sent."""
    if dtype not in (None, *FLOATS):
        raise typer.BadParameter(f"--dtype: {dtype!r} is none of {', '.join(FLOATS)}")
    if file is not None:
        sample = samples.read(file, dtype)
    elif name in generators.GENERATORS:
        sample = generators.generate(name, dtype or "f32", nbytes)
    else:
        known = ", ".join(generators.GENERATORS)
        raise typer.BadParameter(f"--data: {name!r} is none of {known}")
    if sample.dtype not in FLOATS:
        raise typer.BadParameter(f"{sample.name}: collectives are measured on floats")
    return sample
