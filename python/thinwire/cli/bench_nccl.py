"""`thinwire bench nccl`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from thinwire import dtypes
from thinwire.bench import collective_tables
from thinwire.bench.breakdown import draw
from thinwire.bench.nccl import (
    ALGORITHMS,
    BASELINES,
    OPERATIONS,
    PER_HOP,
    WAYS,
    NcclSession,
    run_operations,
)
from thinwire.bench.nccl_ranks import find_nccl
from thinwire.bench.nccl_rows import NcclRow, make_rows
from thinwire.bench.output import warn_if_busy
from thinwire.bench.programs import BenchError, Place, find_program
from thinwire.bench.steps import steps
from thinwire.cli import values
from thinwire.cli.bench_collective import chosen_names, chosen_sizes, chosen_values
from thinwire.cli.bench_options import (
    Breakdown,
    Csv,
    GeneratedValues,
    Json,
    LabHosts,
    Links,
    LoopbackOption,
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
from thinwire.cli.lab import Gpus
from thinwire.cli.values import Dtype
from thinwire.codec import Codec
from thinwire.lab import LabError
from thinwire.lab.gpus import parse
from thinwire.library import parse_size


def nccl(
    op: Annotated[
        str, typer.Option(help="Operations, as in all_gather,send_recv; or all of them: all.")
    ] = "all_gather,reduce_scatter,all_reduce",
    size: Annotated[
        str,
        typer.Option(
            help="Size in bytes of the array (all_reduce, broadcast, send_recv), or of one rank's "
            "block.",
            metavar="SIZES",
            callback=values.sizes,
        ),
    ] = "16MiB",
    specs: Specs = None,
    algorithm: Annotated[
        str, typer.Option(help="Algorithms of compressed calls, as in planned,pairwise.")
    ] = "planned",
    hosts: LabHosts = 2,
    ranks: RankCount = None,
    gpus: Gpus = "all",
    link: Links = "10gbit",
    loopback: LoopbackOption = False,
    file: ValuesFile = None,
    data: GeneratedValues = "gradients",
    dtype: ValuesDtype = None,
    iterations: Annotated[int, typer.Option(min=1, help="How often every way takes its turn.")] = 7,
    calls: Annotated[
        int, typer.Option(min=1, help="Calls back to back in a turn, of which a time is the mean.")
    ] = 1,
    per_hop: Annotated[
        bool,
        typer.Option(help="Also rings and chains of messages, compressed anew at every hop."),
    ] = True,
    baseline: Annotated[
        str,
        typer.Option(
            help="Also messages that the program codes itself, as in naive,host: with all memory "
            "asked for anew at each, or copied to the host and coded there."
        ),
    ] = "",
    force: Annotated[
        bool,
        typer.Option(
            help="Compress also where that does not pay; or have the library find out, as in a "
            "program."
        ),
    ] = True,
    threshold: Annotated[
        str,
        typer.Option(help="Do not compress smaller calls.", metavar="SIZE", callback=values.size),
    ] = "64KiB",
    library: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="The libnccl.so.2 to measure, if not that of Python's packages or the system's.",
        ),
    ] = None,
    breakdown: Breakdown = None,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Measure NCCL's operations raw, compressed, and compressed per hop, by turns in one job.

    Every result is verified. Each link is a lab of its own; its hosts share the machine's GPUs
    if these are fewer. If this machine does not permit labs, all ranks run on one host.
    """
    if ranks is None:
        ranks = hosts
    warn_if_busy()
    links = [] if loopback else link.split(",")
    known = {name: at for at, name in enumerate(OPERATIONS)}
    wanted = chosen_names("--op", op, known, whole="all")
    known = dict.fromkeys(BASELINES, 0)
    baselines = chosen_names("--baseline", baseline, known) if baseline else ()
    algorithms = chosen_names("--algorithm", algorithm, dict.fromkeys(ALGORITHMS, 0))
    codecs = tuple(dict.fromkeys(Codec(spec).spec for spec in specs or ["lossless"]))
    try:
        sizes = chosen_sizes(size)
        with steps(max(1, len(links)) * len(codecs) * len(algorithms)) as step:
            session = NcclSession(
                program=find_program("nccl", program),
                library=find_nccl(library),
                operations=wanted,
                sizes=sizes,
                codecs=codecs,
                ways=(*(way for way in WAYS if per_hop or way != PER_HOP), *baselines),
                ranks=ranks,
                iterations=iterations,
                calls=calls,
                threshold=parse_size(threshold),
                data=chosen_values(file, data, _dtype(file, dtype), max(sizes) * ranks),
                progress=step,
                algorithms=algorithms,
                force=force,
            )
            rows = measure_places(
                links,
                hosts,
                -(-ranks // hosts),
                NcclRow,
                lambda place: _rows(place, session),
                parse(gpus, os.environ),
            )
    except (BenchError, LabError, ValueError) as error:
        raise failure(error) from error
    write_picture(breakdown, draw, rows)
    finish(
        rows, collective_tables.NCCL_COLUMNS, as_csv, as_json, collective_tables.nccl_notes(rows)
    )


def _rows(place: Place, session: NcclSession) -> list[NcclRow]:
    return make_rows(place, session, run_operations(place, session))


def _dtype(file: Path | None, asked: Dtype | None) -> str | None:
    """Of values that are generated, what gradients mostly are."""
    if asked is not None and asked not in dtypes.ADDED:
        raise typer.BadParameter(f"--dtype: {asked!r} is none of {', '.join(dtypes.ADDED)}")
    return Dtype.BF16 if file is None and asked is None else asked
