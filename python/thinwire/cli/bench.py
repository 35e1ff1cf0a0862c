"""`thinwire bench`."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from thinwire.bench import generators, p2p_rows, samples, tables
from thinwire.bench import overhead as overhead_bench
from thinwire.bench.gpu_tables import GPU_P2P_COLUMNS, gpu_p2p_notes
from thinwire.bench.output import warn_if_busy
from thinwire.bench.p2p import Session
from thinwire.bench.p2p_gpu_rows import P2pGpuRow, measure_link
from thinwire.bench.p2p_rows import P2pRow
from thinwire.bench.programs import BenchError, find_program
from thinwire.bench.steps import steps
from thinwire.cli import (
    bench_codec,
    bench_collective,
    bench_nccl,
    bench_ratio,
    bench_raw,
    values,
)
from thinwire.cli.bench_options import (
    Csv,
    Json,
    Links,
    MemoryOption,
    Program,
    ShimSpec,
    Sizes,
    Specs,
    failure,
    finish,
    measure_places,
    message_sizes,
    parse_codecs,
)
from thinwire.cli.values import Memory
from thinwire.lab import LabError

# Host messages, GPU messages staged by hand, device pointers if the MPI takes them, and raw ones
# through the preload library.
GPU_WAYS = 4

app = typer.Typer(
    rich_markup_mode="markdown",
    help="Measure codecs and messages on this machine.",
    no_args_is_help=True,
)

app.command("codec")(bench_codec.codec)
app.command("ratio")(bench_ratio.ratio)
app.command("raw")(bench_raw.raw)
app.command("collective")(bench_collective.collective)
app.command("nccl")(bench_nccl.nccl)


@app.command()
def p2p(
    specs: Specs = None,
    hosts: Annotated[
        int, typer.Option(min=2, help="Hosts of the lab; messages go from host 0 to host 1.")
    ] = 2,
    link: Links = "1gbit",
    loopback: Annotated[
        bool, typer.Option("--loopback", help="Both ranks on this host, without a lab.")
    ] = False,
    sizes: Sizes = "64KiB,256KiB,1MiB,4MiB,16MiB",
    iterations: Annotated[int, typer.Option(min=1, help="Timed messages per round.")] = 10,
    rounds: Annotated[
        int, typer.Option(min=1, help="How often native and every codec take their turn.")
    ] = 3,
    data: Annotated[
        Path | None,
        typer.Option(
            callback=values.place_of_array,
            help="File of fp32 values to send; otherwise generated smooth ones.",
        ),
    ] = None,
    memory: MemoryOption = Memory.HOST,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Measure the one-way time of MPI messages between two hosts, native and compressed in turns.

    Each link is a lab of its own. If this machine does not permit labs, both ranks run on one host.
    """
    warn_if_busy()
    links = [] if loopback else link.split(",")
    codecs = tuple(parse_codecs(specs or ["zfp:rate=16", "zfp:rate=8"]))
    between_gpus = memory == Memory.DEVICE
    ways = len(codecs) + (GPU_WAYS if between_gpus else 1)
    try:
        with steps(max(1, len(links)) * rounds * ways) as step:
            session = Session(
                program=find_program("p2p", program),
                values=fp32_values(data, max(message_sizes(sizes))),
                sizes=message_sizes(sizes),
                codecs=codecs,
                iterations=iterations,
                rounds=rounds,
                progress=step,
            )
            if between_gpus:
                period = samples.read(data).values if data else session.values
                gpu_rows = measure_places(
                    links, hosts, 1, P2pGpuRow, lambda place: measure_link(place, session, period)
                )
            else:
                rows = measure_places(
                    links, hosts, 1, P2pRow, lambda place: p2p_rows.measure(place, session)
                )
    except (BenchError, LabError, ValueError) as error:
        raise failure(error) from error
    if between_gpus:
        finish(gpu_rows, GPU_P2P_COLUMNS, as_csv, as_json, gpu_p2p_notes(gpu_rows))
    else:
        finish(rows, tables.P2P_COLUMNS, as_csv, as_json, tables.p2p_notes(rows))


@app.command()
def overhead(
    spec: ShimSpec = "zfp:rate=16",
    alternations: Annotated[
        int, typer.Option(min=1, help="How often the program runs with and without the library.")
    ] = 5,
    batches: Annotated[int, typer.Option(min=1, help="Batches of 200 messages per size.")] = 400,
    threads: Annotated[bool, typer.Option(help="Ask for MPI_THREAD_MULTIPLE.")] = False,
    same_node: Annotated[
        bool,
        typer.Option(help="As if the peer were on another node, where messages may be compressed."),
    ] = False,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Measure what the preload library adds to small messages, which it never compresses."""
    warn_if_busy()
    try:
        path = find_program("overhead", program)
        with steps(alternations) as step:
            rows = overhead_bench.measure(
                path, spec, alternations, batches, step, threads, same_node
            )
    except BenchError as error:
        raise failure(error) from error
    finish(rows, tables.OVERHEAD_COLUMNS, as_csv, as_json)


def fp32_values(path: Path | None, nbytes: int) -> np.ndarray:
    """The values to send: those of a file over and over, or generated ones."""
    if path is None:
        return generators.generate("smooth", "f32", nbytes).values
    sample = samples.read(path)
    if sample.dtype != "f32":
        raise ValueError(f"{path.name}: messages are f32, not {sample.dtype}")
    return np.resize(sample.values, nbytes // 4)
