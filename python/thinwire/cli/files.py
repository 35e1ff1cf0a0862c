"""`thinwire encode`, `decode` and `inspect`: frames in files."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from thinwire import dtypes, files, message
from thinwire.cli import values
from thinwire.cli.values import Dtype
from thinwire.codec import allow_decoding

Source = Annotated[Path, typer.Argument(exists=True, dir_okay=False)]
Target = Annotated[Path, typer.Argument(dir_okay=False)]


def _dtype_of(path: Path, given: str | None) -> str:
    name = given or path.suffix.lstrip(".")
    if name not in dtypes.CODES:
        raise typer.BadParameter(
            f"cannot tell the element type of {path.name}: pass --dtype {'|'.join(dtypes.CODES)}"
        )
    return name


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
    source: Source,
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
        Dtype | None, typer.Option(help="Element type; else the file's suffix.")
    ] = None,
) -> None:
    """Encode a file of raw little-endian values into one frame."""
    name = _dtype_of(source, dtype)
    try:
        data = files.read(source, name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with _ended_by_interrupts():
        frame = message.compress(data, codec, dtype=name)
    assert isinstance(frame, bytes)  # as an array in host memory gives
    files.write(target, frame)
    spec = message.inspect(frame).spec
    ratio = data.nbytes / len(frame)
    Console(stderr=True).print(f"{spec}: {data.nbytes} bytes as {len(frame)}, ratio {ratio:.3f}")


def decode(
    source: Source,
    target: Target,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Also decode this codec of another project (nvcomp-...).", metavar="CODEC"
        ),
    ] = None,
) -> None:
    """Decode a frame into a file of raw little-endian values."""
    allow_decoding(*(allow or []))
    with _ended_by_interrupts():
        array = message.decompress(source.read_bytes())
    files.write(target, array.reshape(-1).view("u1").data)


def inspect(source: Source) -> None:
    """Print what a frame's header says."""
    info = message.inspect(source.read_bytes())
    shape = "x".join(str(extent) for extent in info.shape) or "of no axes"
    print(f"{info.spec} {info.dtype} {shape}: {info.raw_bytes} bytes as {info.frame_bytes}")
