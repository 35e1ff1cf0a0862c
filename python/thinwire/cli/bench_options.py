"""What the commands of `thinwire bench` have in common: options, codecs, links, a run's end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from thinwire.bench import specs as codec_specs
from thinwire.bench.output import Column, failed_row, print_csv, print_json, print_table, say
from thinwire.bench.p2p import STARTUP_BYTES
from thinwire.bench.programs import LabPlace, Loopback, Place, RunError
from thinwire.cli import values
from thinwire.codec import Codec
from thinwire.lab import Lab, LabError, LabUnavailable
from thinwire.lab.gpus import Gpus
from thinwire.library import parse_size

Row = TypeVar("Row")

Specs = Annotated[
    list[str] | None,
    typer.Option(
        "--codec",
        help="Codec and its options, as in zfp:rate=16; may be repeated.",
        metavar="SPEC",
        autocompletion=values.complete_spec,
    ),
]
ShimSpec = Annotated[
    str,
    typer.Option(
        "--codec",
        metavar="SPEC",
        help="The codec that the preload library has set.",
        callback=values.spec,
        autocompletion=values.complete_spec,
    ),
]
Links = Annotated[
    str,
    typer.Option(
        help="Rates of the link between the hosts, one after another, as in 100mbit,1gbit.",
        metavar="RATES",
        callback=values.lab_links,
    ),
]
LabHosts = Annotated[int, typer.Option(min=1, help="Hosts of the lab.")]
RankCount = Annotated[
    int | None, typer.Option(min=1, help="Number of ranks; one per host unless given.")
]
LoopbackOption = Annotated[
    bool, typer.Option("--loopback", help="All ranks on this host, without a lab.")
]
ValuesFile = Annotated[
    Path | None,
    typer.Option(
        help="File of values to send, repeated to the size.", callback=values.place_of_array
    ),
]
GeneratedValues = Annotated[
    str, typer.Option(help="Which values to generate if there is no --file.")
]
ValuesDtype = Annotated[
    values.Dtype | None,
    typer.Option(help="Element type: of the file (else its suffix), or of generated values."),
]
Sizes = Annotated[
    str,
    typer.Option(
        help="Message sizes in bytes, as in 64KiB,1MiB.", metavar="SIZES", callback=values.sizes
    ),
]
MemoryOption = Annotated[
    values.Memory, typer.Option(help="Where the buffers are; device: in GPU memory.")
]
Csv = Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")]
Json = Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")]
Breakdown = Annotated[
    Path | None,
    typer.Option(help="Draw where the time goes into this SVG file.", dir_okay=False),
]
Program = Annotated[
    Path | None, typer.Option(help="The compiled program, if not the one in build/release/bin.")
]


def parse_codecs(specs: Sequence[str], automatic: bool = False) -> list[Codec]:
    """The codecs of these specs, each once; exits for one that is none, and for "auto" unless that
    is one here."""
    found = {each.spec: each for each in map(Codec, specs)}
    for each in found.values():
        try:
            codec_specs.row_of(each)
            if codec_specs.is_policy(each) and not automatic:
                raise ValueError(f"{each.spec!r} is no one codec")
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


def measure_places(
    links: Sequence[str],
    hosts: int,
    ranks_per_host: int,
    kind: type[Row],
    measure: Callable[[Place], list[Row]],
    gpus: Gpus | None = None,
) -> list[Row]:
    """The rows of one link after another, each a lab of its own, with `gpus` as `Lab` has them.
    Loopback if none is wanted, or
    if this machine permits no lab, after saying why. What fails is a row of its own, and what is
    interrupted the last."""
    rows: list[Row] = []
    for link in links or (Loopback.name,):
        try:
            with _open(link, hosts, ranks_per_host, gpus) as place:
                rows += measure(place)
                if isinstance(place, Loopback):
                    break
        except (RunError, LabError) as error:
            say(f"FAILED {link}: {error}")
            rows.append(failed_row(kind, error, link=link))
        except KeyboardInterrupt:
            rows.append(failed_row(kind, "interrupted", link=link))
            break
    return rows


@contextmanager
def _open(link: str, hosts: int, ranks_per_host: int, gpus: Gpus | None) -> Iterator[Place]:
    if link == Loopback.name:
        yield Loopback()
        return
    with ExitStack() as stack:
        try:
            lab = stack.enter_context(Lab(hosts, link, ranks_per_host, "bench", gpus))
        except LabUnavailable as error:
            say(f"No lab on this machine ({error}): loopback instead, where nothing is slow.")
            yield Loopback()
            return
        yield LabPlace(lab)


def write_picture(path: Path | None, draw: Callable[[list[Any]], str], rows: list[Any]) -> None:
    """Draws the rows into the file, if there is one to write; says so if none can be shown."""
    if path is None:
        return
    try:
        path.write_text(draw(rows))
    except ValueError as error:
        say(f"{path} is not written: {error}")


def finish(
    rows: list[Any],
    columns: Sequence[Column],
    as_csv: bool,
    as_json: bool,
    notes: Sequence[str] = (),
) -> None:
    """Prints the rows; exits with 1 if one is not verified, or there is none."""
    if as_json:
        print_json(rows)
    elif as_csv:
        print_csv(rows)
    else:
        print_table(rows, columns, notes)
    if not rows or not all(row.verified for row in rows):
        raise typer.Exit(1)


def failure(error: object) -> typer.Exit:
    say(f"thinwire: error: {error}")
    return typer.Exit(1)
