"""The file of one rank, whole or cut short (docs/reference/trace.md)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from thinwire import checked
from thinwire.traces import lines

VERSION = 2
# Characters of a line. A bin of 2048 cells with three full histograms has 11 million.
MOST_LINE = 16 << 20

Warn = Callable[[str], None]


class NotATrace(Exception):
    """Says which file, which line, and why."""


@dataclass
class Cell:
    """What the messages, or calls, of one kind came to."""

    operation: str
    communicator: str = ""
    place: str | None = None
    peer: int | None = None
    codec: str | None = None
    raw: str | None = None  # why; None: compressed
    calls: int = 0
    bytes: int = 0
    wire_bytes: int = 0
    predicted_nanoseconds: int = 0
    nanoseconds: int = 0
    sizes: dict[int, int] = field(default_factory=dict)  # by power of two: bytes
    times: dict[int, int] = field(default_factory=dict)  # by power of two: nanoseconds
    predictions: dict[int, int] = field(default_factory=dict)  # of `times`, by power of two
    raw_nanoseconds: int = 0  # had it gone raw, as predicted
    whole_nanoseconds: int = 0  # the same as it went

    @property
    def is_message(self) -> bool:
        return self.operation == "send"


@dataclass
class Steps:
    """Steps that ended in a bin: the calls of each, how many, and what they took together."""

    calls: int
    compressed: int
    compressed_nanoseconds: int
    raw: int
    raw_nanoseconds: int

    @property
    def nanoseconds(self) -> int:
        return self.compressed_nanoseconds + self.raw_nanoseconds


@dataclass
class Bin:
    """What a rank did in some seconds, counted from its start."""

    start: float
    end: float
    messages: int = 0  # of the threshold or more
    compressed_messages: int = 0
    bytes: int = 0
    wire_bytes: int = 0
    collective_bytes: int = 0  # of the compressed ones
    collective_wire_bytes: int = 0
    native_bytes: int = 0
    encode_nanoseconds: int = 0
    decode_nanoseconds: int = 0
    collective_nanoseconds: int = 0
    below_threshold: int = 0
    decoded: int = 0
    errors: int = 0
    saved_nanoseconds: int = 0
    pool_bytes: int = 0
    steps: Steps | None = None


@dataclass
class RankTrace:
    path: Path
    head: dict[str, Any]
    cells: list[Cell] = field(default_factory=list)
    bins: list[Bin] = field(default_factory=list)
    totals: dict[str, Any] | None = None  # None: to be summed up from the cells
    has_end: bool = False  # False: the trace was cut short
    seconds: float = 0.0
    pool_peak_bytes: int = 0  # the most that was held, also between bins
    whole: bool = True  # False: the file's bound left no room for the last bins

    @property
    def rank(self) -> int:
        return int(self.head["rank"])


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        return checked.parse(line)
    except ValueError as error:
        raise NotATrace(f"{path}:{number}: this is no line of a trace: {error}") from error


def _check_head(head: dict[str, Any], path: Path) -> None:
    version = head.get("thinwire_trace")
    if version is None:
        raise NotATrace(f"{path}:1: not a trace: its first line has no 'thinwire_trace'")
    if version != VERSION:
        raise NotATrace(
            f"{path}:1: a trace of version {version}; this thinwire reads version {VERSION}"
        )
    try:
        lines.check_head(head)
    except ValueError as error:
        raise NotATrace(f"{path}:1: this is no line of a trace: {error}") from error


def _lines(path: Path) -> Iterator[str]:
    """NotATrace for a line that is longer than any of a trace, of which no more is read."""
    with path.open(errors="replace") as file:
        number = 0
        while line := file.readline(MOST_LINE):
            number += 1
            if len(line) == MOST_LINE:
                raise NotATrace(f"{path}:{number}: a line of {MOST_LINE} characters or more")
            yield line


def _begin(line: str, path: Path) -> RankTrace:
    """The trace that a file's first line begins."""
    trace = RankTrace(path, _object(line, path, 1))
    _check_head(trace.head, path)
    return trace


def read_head(path: Path) -> dict[str, Any]:
    """What the first line says."""
    line = next(_lines(path), "")
    if not line.endswith("\n"):
        raise NotATrace(f"{path}:1: not a trace: it has no whole line")
    return _begin(line, path).head


def read(path: Path, warn: Warn) -> RankTrace:
    """The trace in a file, read line by line. A last line that ends in the middle is left out, and
    `warn` says so; NotATrace for anything else that is wrong."""
    trace, unfinished = None, 0
    for number, line in enumerate(_lines(path), 1):
        if not line.endswith("\n"):
            unfinished = number
        elif trace is None:
            trace = _begin(line, path)
        else:
            _take_line(trace, line, number)
    if trace is None:
        raise NotATrace(f"{path}:1: not a trace: it has no whole line")
    if unfinished:
        warn(f"{path}:{unfinished}: the line ends in the middle: what it says is left out")
    if not trace.has_end:
        warn(f"{path}: has no last line: the program has not reached MPI_Finalize, or runs yet")
    elif not trace.whole:
        warn(f"{path}: the file was full: the last seconds are in its totals alone")
    return trace


def _take_line(trace: RankTrace, line: str, number: int) -> None:
    found = _object(line, trace.path, number)
    try:
        _take(trace, found)
    except ValueError as error:
        raise NotATrace(f"{trace.path}:{number}: this is no line of a trace: {error}") from error


def _take(trace: RankTrace, line: dict[str, Any]) -> None:
    if "cell" in line:
        trace.cells.append(Cell(**lines.check_cell(line, len(trace.cells), trace.head["ranks"])))
    elif "from" in line:
        lines.check_bin(line, len(trace.cells))
        trace.bins.append(_bin(trace, line))
        trace.pool_peak_bytes = line["pool_peak_bytes"]
        trace.seconds = max(trace.seconds, float(line["to"]))
    elif "end" in line:
        lines.check_end(line)
        trace.has_end = True
        # A trace of NCCL calls has none: its cells say all.
        trace.totals = None if line["totals"] is None else dict(line["totals"])
        trace.seconds = max(trace.seconds, float(line["end"]))
        trace.whole = bool(line["whole"])
    else:
        raise ValueError("neither a cell, a bin nor the end")


def _bin(trace: RankTrace, line: dict[str, Any]) -> Bin:
    made = Bin(float(line["from"]), float(line["to"]))
    made.below_threshold = line["below_threshold"]
    made.decoded = line["decoded"]
    made.decode_nanoseconds = line["decode_nanoseconds"]
    made.errors = line["damaged"] + line["without_memory"] + line["device_failures"]
    made.pool_bytes = line["pool_bytes"]
    if "steps" in line:
        made.steps = Steps(*(line["steps"][each.name] for each in fields(Steps)))
    for row in line["cells"]:
        place, calls, raw, wire, predicted, spent, sizes, times, predictions, if_raw, whole = row
        cell = trace.cells[place]
        cell.calls += calls
        cell.bytes += raw
        cell.wire_bytes += wire
        cell.predicted_nanoseconds += predicted
        cell.nanoseconds += spent
        cell.raw_nanoseconds += if_raw
        cell.whole_nanoseconds += whole
        made.saved_nanoseconds += if_raw - whole
        for into, more in (
            (cell.sizes, sizes),
            (cell.times, times),
            (cell.predictions, predictions),
        ):
            for bucket, count in more:
                into[bucket] = into.get(bucket, 0) + count
        _add(made, cell, calls, raw, wire, spent)
    return made


def _add(made: Bin, cell: Cell, calls: int, raw: int, wire: int, spent: int) -> None:
    if cell.is_message:
        made.messages += calls
        made.bytes += raw
        made.wire_bytes += wire
        made.encode_nanoseconds += spent
        made.compressed_messages += calls if cell.raw is None else 0
    elif cell.raw is None:
        made.collective_bytes += raw
        made.collective_wire_bytes += wire
        made.collective_nanoseconds += spent
    else:
        made.native_bytes += raw
