"""The sums of one report's file (docs/reference/report.md), which anybody may have written."""

import os
import stat
from pathlib import Path
from typing import Any

from thinwire import checked
from thinwire.reports.sums import Library, Operation, Sums, short

# Bytes of a file. NCCL's report of 1000 communicators, five timings each, has 4 million. Lists that
# are empty take 25 times as much in memory as in a file.
MOST_BYTES = 16 << 20
_BEGINNING = 4096
# Operations of an MPI program's report.
SEND, COLLECTIVES = "send", "collectives"


class NotAReport(Exception):
    """Says which file, and why."""


def read(path: Path) -> tuple[Sums, float]:
    """A report's sums, and when it was written, in seconds since 1970; NotAReport if it is none or
    not whole."""
    try:
        text, written = _text(path)
        found = checked.parse(text)
        if "communicators" in found:
            return _of_nccl(found), written
        return _of_mpi(found), written
    except OSError as error:
        raise NotAReport(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise NotAReport(f"{path}: this is no whole report: {error}") from error


def is_report(paths: list[Path]) -> bool:
    """Whether the first of these that is whole at its beginning begins as a report, not as a
    trace."""
    for path in paths:
        try:
            beginning = _data(path, _BEGINNING)[0]
        except (OSError, ValueError):
            continue
        if b'"thinwire_trace"' in beginning:
            return False
        if b'"codec"' in beginning:
            return True
    return False


def _data(path: Path, most: int) -> tuple[bytes, float]:
    """The first bytes, and when it was written. A pipe that is there is not waited for."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(file, "rb") as opened:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("it is no file")
        # As much as is asked for is set aside before it is read.
        return opened.read(min(most, about.st_size + 1)), about.st_mtime


def _text(path: Path) -> tuple[str, float]:
    data, written = _data(path, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    return data.decode(errors="replace"), written


def _count(values: dict[str, Any], name: str) -> int:
    return checked.count(checked.field(values, name), name)


def _seconds(values: dict[str, Any], name: str) -> float:
    return checked.number(checked.field(values, name), name)


def _saved(values: dict[str, Any], name: str) -> float:
    """Seconds, below 0 if compression cost more."""
    value = checked.field(values, name)
    if type(value) not in (int, float) or abs(value) > checked.MOST_SECONDS:
        raise ValueError(f"{name} is no number of seconds")
    return float(value)


def _codec(report: dict[str, Any]) -> str:
    return short(checked.text(checked.field(report, "codec"), "codec"))


def _count_reasons(library: Library, operation: str, values: dict[str, Any], name: str) -> None:
    for reason, calls in checked.table(checked.field(values, name), name).items():
        library.count_raw(operation, reason, checked.count(calls, short(reason)))


def _of_mpi(report: dict[str, Any]) -> Sums:
    whole = checked.table(checked.field(report, "collectives"), "collectives")
    sums = Sums(_codec(report))
    messages = Operation(
        _count(report, "messages"),
        _count(report, "compressed_messages"),
        *(_count(report, name) for name in ("bytes", "wire_bytes")),
        *(_count(report, name) for name in ("compressed_bytes", "compressed_wire_bytes")),
    )
    native = _count(whole, "native_bytes")
    coded, sent = _count(whole, "bytes"), _count(whole, "wire_bytes")
    compressed = _count(whole, "compressed")
    calls = compressed + _count(whole, "native_calls")
    sums.mpi.count(SEND, messages)
    sums.mpi.count(
        COLLECTIVES, Operation(calls, compressed, coded + native, sent + native, coded, sent)
    )
    _count_reasons(sums.mpi, SEND, report, "raw_by_reason")
    _count_reasons(sums.mpi, COLLECTIVES, whole, "native_by_reason")
    for operation, values in ((SEND, report), (COLLECTIVES, whole)):
        sums.encode_seconds[operation] = _seconds(values, "encode_seconds")
        sums.decode_seconds[operation] = _seconds(values, "decode_seconds")
    sums.saved_seconds[SEND] = _saved(report, "predicted_saved_seconds")
    sums.saved_seconds[COLLECTIVES] = _saved(whole, "saved_seconds")
    for name in ("decoded_messages", "damaged_messages", "messages_without_memory"):
        setattr(sums, name, _count(report, name))
    sums.device_failures = _count(report, "device_failures")
    pools = checked.table(checked.field(report, "pools"), "pools")
    for memory in ("host", "pinned", "gpu"):
        pool = checked.table(checked.field(pools, memory), memory)
        sums.scratch_peak_bytes[memory] = _count(pool, "peak_bytes")
    return sums


def _of_nccl(report: dict[str, Any]) -> Sums:
    sums = Sums(_codec(report))
    for each in checked.sequence(report["communicators"], "communicators"):
        communicator = checked.table(each, "a communicator")
        operations = checked.table(checked.field(communicator, "operations"), "operations")
        for operation, values in operations.items():
            _count_operation(sums, operation, checked.table(values, short(operation)))
        # Not there if nothing was compressed.
        memory = checked.table(communicator.get("memory", {}), "memory")
        if memory:
            held = _count(memory, "most_held_bytes")
            sums.scratch_peak_bytes["gpu"] = sums.scratch_peak_bytes.get("gpu", 0) + held
    return sums


def _count_operation(sums: Sums, operation: str, values: dict[str, Any]) -> None:
    names = ("calls", "compressed_calls", "bytes", "wire_bytes")
    more = ("compressed_bytes", "compressed_wire_bytes")
    sums.nccl.count(operation, Operation(*(_count(values, name) for name in (*names, *more))))
    _count_reasons(sums.nccl, operation, values, "raw_by_reason")
    sums.spilled_blocks += _count(values, "spilled_blocks")
