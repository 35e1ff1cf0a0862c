"""`thinwire capture`: a sample of what a program sends, in files that the other tools read."""

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from thinwire.capture import make_index
from thinwire.cli import values
from thinwire.cli.preload import launched
from thinwire.cli.run import command_of
from thinwire.cli.shim import MpiOption, fail
from thinwire.library import parse_size
from thinwire.settings import in_force


def capture(
    context: typer.Context,
    most: Annotated[
        str,
        typer.Option(
            help="Most bytes of the sample, of all ranks of a node.",
            metavar="SIZE",
            callback=values.size,
        ),
    ] = "1GiB",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="A new folder for the sample.", metavar="FOLDER"),
    ] = Path("capture"),
    threshold: Annotated[
        str,
        typer.Option(
            help="Take no smaller messages, as in 64KiB.", metavar="SIZE", callback=values.size
        ),
    ] = "64KiB",
    mpi: MpiOption = None,
) -> None:
    """Run an MPI program and keep a sample of the floats that it sends.

    As in: thinwire capture --most 256MiB -- mpirun -n 4 ./program

    Messages stay as they are, none is compressed. The sample is spread over time, ranks, peers and
    sizes; its files have the values as they were, for `thinwire advise` and `thinwire bench`.
    """
    command = command_of(context)
    folder = output.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        fail(f"{output} is there already: name a new folder (-o)")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {
        "THINWIRE_CODEC": "off",
        "THINWIRE_THRESHOLD": str(parse_size(threshold)),
        "THINWIRE_CAPTURE": str(folder),
        "THINWIRE_CAPTURE_MOST": str(parse_size(most)),
    }
    words, changes = launched(command, wanted, mpi, nccl=False, quiet=False)
    started = subprocess.Popen(words, env={**in_force(os.environ), **changes})
    code = _wait(started)
    samples = make_index(folder, command)
    size = sum(sample["bytes"] for sample in samples)
    typer.echo(f"thinwire: {len(samples)} arrays, {size} bytes in {output}", err=True)
    raise typer.Exit(code if code >= 0 else 128 - code)


def _wait(started: "subprocess.Popen[bytes]") -> int:
    """The program's code; a signal from the terminal goes to it too, and it decides."""
    while True:
        try:
            return started.wait()
        except KeyboardInterrupt:
            continue
