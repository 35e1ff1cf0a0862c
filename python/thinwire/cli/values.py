"""Values of options: words of a fixed list, and texts that are checked when they are parsed."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from thinwire import codec as registry
from thinwire.codec import Codec
from thinwire.library import ThinwireError, parse_link_rate, parse_size
from thinwire.policy import Policy
from thinwire.settings import wrong_settings


class Level(StrEnum):
    """What --log takes."""

    OFF = "off"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    PLAN = "plan"
    DEBUG = "debug"


class Mpi(StrEnum):
    """The handle ABIs of MPIs that preload libraries are built for."""

    OPENMPI = "openmpi"
    MPICH = "mpich"
    ABI = "abi"


class Memory(StrEnum):
    """Where a benchmark's messages lie."""

    HOST = "host"
    DEVICE = "device"


class Device(StrEnum):
    """Where codecs or programs compute."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


class Operation(StrEnum):
    """A message between two ranks, and the collectives."""

    SEND = "send"
    BCAST = "bcast"
    ALLGATHER = "allgather"
    GATHER = "gather"
    SCATTER = "scatter"
    ALLTOALL = "alltoall"
    REDUCE = "reduce"
    ALLREDUCE = "allreduce"
    REDUCE_SCATTER = "reduce-scatter"


def collective(operation: Operation) -> Operation:
    """A parameter's callback: no message between two ranks."""
    if operation is Operation.SEND:
        raise typer.BadParameter("a collective is simulated, not a message")
    return operation


class Dtype(StrEnum):
    """Element types, by their names in dtypes.CODES."""

    BYTES = "bytes"
    F32 = "f32"
    F64 = "f64"
    F16 = "f16"
    BF16 = "bf16"
    E4M3 = "e4m3"
    E5M2 = "e5m2"


def _checked(
    check: Callable[[str], Any], separator: str | None = None
) -> Callable[[str | None], str | None]:
    """A callback of an option that refuses what `check` raises an error for; with a separator,
    each word of a list."""

    def judge(value: str | None) -> str | None:
        if value is not None:
            for word in value.split(separator) if separator else [value]:
                try:
                    check(word)
                except (ThinwireError, ValueError) as error:
                    raise typer.BadParameter(_sentence(error)) from error
        return value

    return judge


def _sentence(error: Exception) -> str:
    """The library's words without the name of its status, which all of these share."""
    return str(error.args[0]).removeprefix("invalid argument: ")


size = _checked(parse_size)
sizes = _checked(parse_size, ",")
link_rate = _checked(parse_link_rate)


def _parse_lab_link(text: str) -> None:
    # The lab's package takes more to import than all others here.
    from thinwire.lab.shaping import parse_link

    parse_link(text)


lab_link = _checked(_parse_lab_link)
lab_links = _checked(_parse_lab_link, ",")


def spec(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """A codec spec in its normal form. Where the environment's is wrong, the error says so."""
    if context.resilient_parsing or value is None:
        return value
    try:
        return Codec(value).spec
    except ThinwireError as error:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "ENVIRONMENT":
            raise typer.BadParameter(f"{parameter.envvar}: {_sentence(error)}") from error
        if wrong_settings({"THINWIRE_CODEC": value}):
            raise typer.BadParameter(_sentence(error)) from error
        raise


def place_of_array(value: Path | list[Path] | None) -> Path | list[Path] | None:
    """A file that is there, a pipe, or an array in a file."""
    # It imports numpy, which launchers do without.
    from thinwire import array_files

    for path in value if isinstance(value, list) else [value] if value else []:
        try:
            array_files.Place.of(path)
        except FileNotFoundError as error:
            raise typer.BadParameter(f"file '{path}' does not exist") from error
        except IsADirectoryError as error:
            raise typer.BadParameter(f"'{error.filename}' is a folder, not a file") from error
    return value


def frame_file(value: Path) -> Path:
    """A file that is there, or a pipe."""
    if value != Path("-") and not value.exists():
        raise typer.BadParameter(f"file '{value}' does not exist")
    if value.is_dir():
        raise typer.BadParameter(f"'{value}' is a folder, not a file")
    return value


def policy(value: Path | None) -> Path | None:
    """A policy's file, which is read here: a wrong one is not handed to a program."""
    if value is not None:
        try:
            Policy(value)
        except ThinwireError as error:
            raise typer.BadParameter(_sentence(error)) from error
    return value


_AUTOMATIC = {
    "auto": "a lossless codec that a sample chooses, if it wins on the stated link",
    "lossless": "a lossless codec that a sample chooses",
    "off": "nothing is compressed",
}


def complete_spec(incomplete: str) -> Iterator[tuple[str, str]]:
    """The codecs whose names begin so, with what they are; and after "name:" their example."""
    name = incomplete.partition(":")[0]
    if ":" not in incomplete:
        yield from (row for row in _AUTOMATIC.items() if row[0].startswith(name))
    for row in registry.codecs():
        if ":" not in incomplete and row.name.startswith(name):
            yield row.name, row.summary
        elif ":" in incomplete and row.name == name and row.example.startswith(incomplete):
            yield row.example, row.options
