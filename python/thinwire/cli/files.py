"""`thinwire encode`, `decode` and `inspect`: frames in files and pipes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from thinwire import array_files, files, message
from thinwire.array_files import Place, kinds, npy
from thinwire.cli import values
from thinwire.cli.values import Dtype
from thinwire.codec import allow_decoding

Frame = Annotated[
    Path,
    typer.Argument(help="A frame; - is standard input.", callback=values.frame_file),
]
Target = Annotated[
    Path, typer.Argument(dir_okay=False, help="What to write; - is standard output.")
]


def _frame(source: Path) -> bytes:
    with Place(source, None).open() as opened:
        return opened.file.read()


@contextmanager
def _ended_by_interrupts() -> Iterator[None]:
    """For calls of the library that take long and leave nothing half-done: an interrupt ends the
    process. Python would look for it only after the call."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # not where the caller has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def encode(
    source: Annotated[
        Path,
        typer.Argument(
            help="Raw values, .npy, file.npz:name, file.h5:/group/name, file.nc:name; - is stdin.",
            callback=values.place_of_array,
        ),
    ],
    target: Target,
    codec: Annotated[
        str,
        typer.Option(
            help="Codec spec, as in zfp:rate=16.",
            metavar="SPEC",
            callback=values.spec,
            autocompletion=values.complete_spec,
        ),
    ],
    dtype: Annotated[
        Dtype | None,
        typer.Option(help="Element type, if neither suffix nor file says it."),
    ] = None,
) -> None:
    """Encode raw little-endian values, or an array of a file, into one frame."""
    try:
        found = array_files.read(source, dtype)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with _ended_by_interrupts():
        frame = message.compress(found.array, codec, dtype=found.dtype)
    assert isinstance(frame, bytes)  # as an array in host memory gives
    files.write(target, frame)
    spec = message.inspect(frame).spec
    nbytes = found.array.nbytes
    ratio = nbytes / len(frame)
    Console(stderr=True).print(f"{spec}: {nbytes} bytes as {len(frame)}, ratio {ratio:.3f}")


def decode(
    source: Frame,
    target: Target,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Also decode this codec of another project (nvcomp-...).", metavar="CODEC"
        ),
    ] = None,
) -> None:
    """Decode a frame into a file of raw little-endian values, or a .npy file with their shape."""
    allow_decoding(*(allow or []))
    with _ended_by_interrupts():
        array = message.decompress(_frame(source))
    header = [npy.header_of(array)] if target.suffix == ".npy" else []
    files.write(target, *header, array.reshape(-1).view("u1").data)


def inspect(
    source: Annotated[
        Path,
        typer.Argument(help="A frame, or a file of arrays.", callback=values.frame_file),
    ],
) -> None:
    """Print what a frame's header says, or which arrays a file has."""
    with Place(source, None).open() as opened:
        try:
            is_frame = opened.head(len(kinds.FRAME)) == kinds.FRAME
            arrays = None if is_frame else array_files.contents(opened)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        if arrays is not None:
            print(*arrays, sep="\n")
            return
        info = message.inspect(opened.file.read())
    shape = "x".join(str(extent) for extent in info.shape) or "of no axes"
    print(f"{info.spec} {info.dtype} {shape}: {info.raw_bytes} bytes as {info.frame_bytes}")
