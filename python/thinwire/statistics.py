"""Counts of what was sent and received: this process's own while it runs, and a job's report."""

import ctypes
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from thinwire import checked
from thinwire.library import ThinwireError, check, ffi, ffi_new, library, new_struct, text

# Counts that the benchmarks and the demo look at.
REPORT_COUNTS = (
    "messages",
    "compressed_messages",
    "decoded_messages",
    "damaged_messages",
    "wire_bytes",
    "copied_receives",
    "receives_in_place",
    "receives_through_scratch",
    "allocations",
)


@dataclass(frozen=True)
class Counters:
    """Since the process started. Sizes are in bytes, times in nanoseconds."""

    messages: int  # arrays encoded; of an MPI program, messages sent
    compressed_messages: int
    bytes: int  # of the messages; of an MPI program, of those of the threshold or more
    wire_bytes: int  # what these became
    compressed_bytes: int
    compressed_wire_bytes: int
    decoded_messages: int
    damaged_messages: int
    encode_nanoseconds: int
    decode_nanoseconds: int
    collectives: int  # calls that were compressed
    collective_bytes: int
    collective_wire_bytes: int
    collective_nanoseconds: int
    native_collectives: int  # calls that were left to the MPI
    predicted_nanoseconds: int  # of an MPI program's messages, as they were sent
    predicted_raw_nanoseconds: int  # of the same, had each gone raw
    # Predicted raw less what it took, below 0 if compression cost more (thinwire.h, tw_stats).
    saved_nanoseconds: int
    collective_saved_nanoseconds: int
    messages_without_memory: int  # compressed ones that there was no memory to decode
    device_failures: int  # calls that a GPU or its driver refused
    pool_peak_bytes: int  # the most host and pinned scratch memory held
    # Packets of communicators' collectives that were coded against an earlier result.
    delta_packets: int
    delta_bytes: int
    delta_wire_bytes: int
    raw_by_reason: dict[str, int]  # messages that went raw; reasons that did not occur are left out


@dataclass(frozen=True)
class Kind:
    """Messages, or calls of a collective, that have operation, communicator, peer and codec in
    common, and whether they went raw. Sizes are in bytes, times in nanoseconds; histograms say how
    many there are from a power of two to the next, by that power."""

    operation: str  # "send", or the collective's name
    communicator: str
    place: str  # of the peer; "" for collectives
    peer: int | None  # its rank, if it was told apart
    codec: str
    raw: str  # why it went raw; "": compressed
    calls: int
    bytes: int
    wire_bytes: int
    nanoseconds: int  # encoding of messages, compressed collectives as a whole
    predicted_nanoseconds: int  # of that
    raw_nanoseconds: int  # of the whole, had it gone raw, as predicted
    whole_nanoseconds: int  # of the whole as it went; the difference is what was saved
    sizes: dict[int, int]
    times: dict[int, int]
    predictions: dict[int, int]


@dataclass(frozen=True)
class Stats:
    """Of this process: `library` counts its calls of this library, `mpi` its MPI calls and `nccl`
    its NCCL calls under a preload library; None if there is none."""

    library: Counters
    mpi: Counters | None
    nccl: Counters | None = None


def stats() -> Stats:
    """The counters of this moment. Asks no other process, and never waits."""
    lib = library()
    of_preloads = (_read_if_there(lib.TW_STATS_PRELOAD), _read_if_there(lib.TW_STATS_NCCL))
    return Stats(_read(lib.TW_STATS_LIBRARY), *of_preloads)


def stats_kinds() -> list[Kind]:
    """Of this process' MPI calls under the preload library, by what they have in common. Kept from
    the start under THINWIRE_TRACE or THINWIRE_METRICS, else from the first call of this function
    after MPI_Init on; empty without a preload library."""
    lib = library()
    count = ffi_new("uint32_t *")
    status = lib.tw_stats_kinds(lib.TW_STATS_PRELOAD, count)
    if status == lib.TW_UNSUPPORTED:
        return []
    check(status)
    return [_kind(number) for number in range(count[0])]


def _kind(number: int) -> Kind:
    lib = library()
    found = new_struct("tw_stats_kind")
    check(lib.tw_stats_read_kind(lib.TW_STATS_PRELOAD, number, found))
    values: dict[str, Any] = {}
    for each in fields(Kind):
        value = getattr(found, each.name)
        if each.type is str:
            # A communicator may be called anything.
            values[each.name] = ffi.string(value).decode(errors="replace")
        elif each.type == dict[int, int]:
            values[each.name] = {at: value[at] for at in range(len(value)) if value[at]}
        else:
            values[each.name] = value
    values["peer"] = None if found.peer < 0 else found.peer
    return Kind(**values)


def _read_if_there(whose: int) -> Counters | None:
    try:
        return _read(whose)
    except ThinwireError as error:
        if error.status != library().TW_UNSUPPORTED:
            raise
        return None


def _read(whose: int) -> Counters:
    lib = library()
    found = new_struct("tw_stats")
    check(lib.tw_stats_read(whose, found))
    raw = ffi_new(f"uint64_t[{lib.TW_REASON_COUNT}]")
    check(lib.tw_stats_raw(whose, raw, lib.TW_REASON_COUNT))
    by_reason = {text(lib.tw_reason_text(why)): raw[why] for why in range(len(raw)) if raw[why]}
    names = [each.name for each in fields(Counters) if each.name != "raw_by_reason"]
    return Counters(**{name: getattr(found, name) for name in names}, raw_by_reason=by_reason)


def preload_is_loaded() -> bool:
    """Whether the preload library for NCCL is in this process."""
    return hasattr(ctypes.CDLL(None), "tw_nccl_report")


def nccl_report() -> dict[str, Any]:
    """The preload library's report of this process so far (docs/reference/report.md); empty if
    the library is not loaded, counts nothing, or no communicator was made yet."""
    if not preload_is_loaded():
        return {}
    report = ctypes.CDLL(None).tw_nccl_report
    report.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64)]
    room, length = ctypes.create_string_buffer(1), ctypes.c_uint64()
    # It may grow in between.
    while report(room, len(room), ctypes.byref(length)) == 0 and length.value > len(room):
        room = ctypes.create_string_buffer(length.value + 4096)
    found: dict[str, Any] = json.loads(room.value or b"{}")
    return found


def read_report(path: Path) -> dict[str, Any]:
    """The figures of a report; ValueError, with the file's name, if it is none: not whole, say,
    after a full disk."""
    try:
        found = checked.parse(path.read_text(errors="replace"))
        for name in REPORT_COUNTS:
            checked.count(checked.field(found, name), name)
        reasons = checked.table(checked.field(found, "raw_by_reason"), "raw_by_reason")
        for name, count in reasons.items():
            checked.count(count, name)
    except ValueError as error:
        raise ValueError(f"{path}: this is no report of a job: {error}") from error
    return found
