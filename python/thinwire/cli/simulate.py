"""`thinwire simulate`: what a collective would take on many nodes, raw beside compressed."""

import json
from pathlib import Path
from typing import Annotated

import typer

from thinwire.bench.layout import print_wrapped
from thinwire.bench.output import print_table
from thinwire.cli import values
from thinwire.cli.run_options import CodecOption
from thinwire.cli.simulate_options import (
    MachineOptions,
    Over,
    calibrated,
    cost_of,
    machine_of,
    numbers,
)
from thinwire.cli.simulate_rows import COLUMNS, Row, json_of, row_of
from thinwire.cli.values import Dtype, Operation
from thinwire.library import parse_size
from thinwire.simulation.compare import MOST_RANKS, loses_from
from thinwire.simulation.compare import simulate as compare


def simulate(
    operation: Annotated[
        Operation,
        typer.Option("--op", help="The collective.", callback=values.collective),
    ] = Operation.ALLREDUCE,
    size: Annotated[
        str,
        typer.Option(
            help="Bytes of the array (bcast, reduce, allreduce) or of one rank's block.",
            callback=values.size,
        ),
    ] = "64MiB",
    dtype: Annotated[Dtype, typer.Option(help="The element type.")] = Dtype.F32,
    nodes: Annotated[str, typer.Option(help="Numbers of nodes, as in 2,8,64.")] = "2,8,64",
    per_node: Annotated[int, typer.Option(min=1, help="Ranks, or GPUs, of each node.")] = 1,
    over: Annotated[Over, typer.Option(help="MPI's schedules, or slots over NCCL.")] = Over.MPI,
    codec: CodecOption = "lossless",
    link: Annotated[
        str | None,
        typer.Option(
            help="A node's rate, as in 100gbit.",
            metavar="RATE",
            envvar="THINWIRE_LINK",
            callback=values.link_rate,
        ),
    ] = None,
    ratio: Annotated[float | None, typer.Option(help="What the codec shrinks the data by.")] = None,
    encode: Annotated[
        str | None, typer.Option(help="A thread's or GPU's rate of encoding, as in 2GB/s.")
    ] = None,
    decode: Annotated[str | None, typer.Option(help="Of decoding; else as --encode.")] = None,
    machine: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A machine that --calibrate wrote."),
    ] = None,
    latency: Annotated[
        float | None, typer.Option(help="Microseconds of a message between nodes.")
    ] = None,
    incast: Annotated[
        float, typer.Option(help="Share of a receiver's rate lost as senders double.")
    ] = 0.0,
    overlap: Annotated[
        float, typer.Option(help="Share of its messages' time in which a rank can code.")
    ] = 1.0,
    eager: Annotated[
        str | None,
        typer.Option(
            help="Bytes of a message beyond which an MPI asks its receiver first, as in 64KiB.",
            callback=values.size,
        ),
    ] = None,
    cores: Annotated[int, typer.Option(min=0, help="Of a node; 0: enough.")] = 0,
    inside: Annotated[
        str | None, typer.Option(help="Rate inside a node, as in 5GB/s; of a GPU over NCCL.")
    ] = None,
    search: Annotated[
        bool, typer.Option(help="Look for the number of ranks from which compressing loses.")
    ] = True,
    calibrate: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Rows of `thinwire bench collective --trust --json` to fit a machine to.",
        ),
    ] = None,
    again: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="The same rows, measured once more: what the machine repeats of its own.",
        ),
    ] = None,
    fastest: Annotated[
        bool, typer.Option("--fastest", help="Fit to the fastest turn of each row.")
    ] = False,
    one_machine: Annotated[
        bool, typer.Option("--one-machine", help="Fit nodes that share their cores, as a lab's.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the fitted machine to this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a collective would take on many nodes, raw beside compressed.

    As in: thinwire simulate --op allreduce --size 64MiB --nodes 8,64,512 --link 10gbit --codec mpc

    The library's own schedules and plans run against a model of links and processors: nothing is
    sent. What the model assumes unless told: docs/guide/simulate.md.
    """
    if calibrate:
        calibrated(
            calibrate,
            again or [],
            save=save,
            cores=cores,
            one_machine=one_machine,
            fastest=fastest,
            as_json=as_json,
        )
        return
    options = MachineOptions(link, machine, latency, incast, overlap, eager, cores, inside)
    counts = numbers(nodes, per_node)
    nbytes = parse_size(size)
    model = machine_of(options, over)
    cost, source = cost_of(codec, dtype.value, over, model, ratio, encode, decode)
    rows: list[Row] = []
    try:
        for count in counts:
            found = compare(
                operation.value,
                nbytes,
                machine=model,
                codec=codec,
                cost=cost,
                nodes=count,
                per_node=per_node,
                dtype=dtype.value,
                over=over.value,
            )
            rows.append(row_of(found, model))
        least = loses_from(found, model) if search else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        print(json.dumps(json_of(rows, model, cost, source, search, least), indent=2))
        return
    what = f"{operation.value} of {size} of {dtype.value}, {per_node} a node, over {over.value}"
    print_wrapped(f"{what}; {codec}: {source}")
    print_table(rows, COLUMNS)
    if search:
        print_wrapped(_verdict(least, per_node))


def _verdict(least: int | None, per_node: int) -> str:
    if least is None:
        return f"compressing gains at {MOST_RANKS // per_node * per_node} ranks"
    return f"compressing loses from about {least} ranks on"
