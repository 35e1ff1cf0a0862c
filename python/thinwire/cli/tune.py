"""`thinwire tune`: measure once what codecs cost on this machine."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from thinwire import files
from thinwire.bench import tune as tuner
from thinwire.bench.layout import print_wrapped
from thinwire.bench.output import Column, print_table, say, warn_if_busy
from thinwire.bench.steps import steps
from thinwire.cli import values
from thinwire.cli.bench_codec import on_gpu
from thinwire.cli.values import Device
from thinwire.codec import Codec
from thinwire.costs import CostRow, Costs, machine, own_path

COLUMNS: list[Column] = [
    ("codec", lambda row: row.codec),
    ("type", lambda row: row.dtype),
    ("bytes", lambda row: str(row.bytes)),
    ("memory", lambda row: "gpu" if row.on_gpu else "host"),
    ("encode GB/s", lambda row: f"{row.cost.encode_bytes_per_second / 1e9:.3g}"),
    ("decode GB/s", lambda row: f"{row.cost.decode_bytes_per_second / 1e9:.3g}"),
    ("ratio", lambda row: f"{row.cost.ratio:.3f}"),
    ("", lambda row: ""),
]


def tune(
    codec: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure this spec too, as in zfp:rate=12.",
            metavar="SPEC",
            autocompletion=values.complete_spec,
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show the table that there is; measure nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure once what codecs cost on this machine, for programs under the preload library.

    Writes a table into the user's cache folder ($XDG_CACHE_HOME/thinwire, else ~/.cache/thinwire),
    which programs read in place of measuring when they first have something to compress. It is of
    this machine and this version alone. Run it while the machine is idle.
    """
    path = own_path()
    if path is None:
        say("thinwire: error: neither XDG_CACHE_HOME nor HOME names a folder for the table")
        raise typer.Exit(1)
    if show:
        if not path.exists():
            say(f"there is no table {path}: `thinwire tune` makes it")
            raise typer.Exit(1)
        _show(path, Costs(path).rows, as_json)
        return
    more = [Codec(spec) for spec in codec or []]
    files.expect(path)
    warn_if_busy()
    wanted = tuner.jobs(more, with_gpu=on_gpu(Device.AUTO))
    rows = list(tuner.measure(wanted, steps, lambda why: say(f"left out {why}")))
    tuner.write(path, tuner.table_of(rows))
    _show(path, rows, as_json)


def _show(path: Path, rows: list[CostRow], as_json: bool) -> None:
    if as_json:
        said = {"path": str(path), "machine": machine(), "rows": [asdict(row) for row in rows]}
        print(json.dumps(said, indent=2))
        return
    print_table(rows, COLUMNS)
    print_wrapped(f"{len(rows)} rows of {machine()}, on generated data, in {path}")
