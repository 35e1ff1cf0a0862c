"""The rows of `thinwire bench nccl`: what nccl-tests print, and what went over the wire."""

from dataclasses import dataclass, replace
from typing import Any

from thinwire.bench.collective_rows import bus_factor, moved_bytes
from thinwire.bench.nccl import BASELINES, PER_HOP, PLANNED, RAW, NcclSession
from thinwire.bench.output import failed_row
from thinwire.bench.p2p_rows import CREDIBLE_RATE
from thinwire.bench.programs import Place

# Parts of the time of messages that a program codes itself.
PHASES = tuple(f"{phase}_seconds" for phase in ("allocate", "encode", "copy", "transfer", "decode"))

# As `collective_rows` has them; a message is as many bytes as its array.
_COLLECTIVES = {
    "all_gather": "allgather",
    "reduce_scatter": "reduce-scatter",
    "all_reduce": "allreduce",
    "broadcast": "bcast",
    "send_recv": "bcast",
    "all_to_all": "alltoall",
    "all_to_all_grouped": "alltoall",
    "scatter": "scatter",
}


@dataclass(frozen=True)
class NcclRow:
    """One operation at one size in one way. Seconds are those of the slowest rank, a call: the
    median of the turns, with the least and the most; `host_` until the call has returned. `raw_`
    is NCCL's own function in the same job.

    `busbw` is GB/s of uncompressed bytes, as nccl-tests has it. `ratio` is uncompressed bytes by
    those of slots and of what did not fit them, of all ranks; `share` is the speed-up over raw by
    that ratio. `calls` and `compressed_calls` are of the timed turns on all ranks, `warm_up_calls`
    what it took until ranks agreed. `allocate_seconds` to `decode_seconds` are rank 0's of a call,
    if the program codes messages itself; what is left of `seconds` are sums, barriers and other
    ranks. Figures are None if the row is not verified, and `note` then
    says why; it also says why calls were not compressed.
    """

    link: str
    op: str
    codec: str
    way: str
    dtype: str
    data: str
    ranks: int
    hosts: int
    size: int
    algorithm: str = PLANNED
    memory: str | None = None
    gpu: str | None = None
    nccl_version: int | None = None
    iterations: int | None = None
    seconds: float | None = None
    min_seconds: float | None = None
    max_seconds: float | None = None
    raw_seconds: float | None = None
    speedup: float | None = None
    busbw: float | None = None
    ratio: float | None = None
    share: float | None = None
    host_seconds: float | None = None
    added_host_seconds: float | None = None
    calls: int | None = None
    compressed_calls: int | None = None
    spilled_blocks: int | None = None
    warm_up_calls: int | None = None
    wrong: int | None = None
    max_error: float | None = None
    relative_error: float | None = None
    allocate_seconds: float | None = None
    encode_seconds: float | None = None
    copy_seconds: float | None = None
    transfer_seconds: float | None = None
    decode_seconds: float | None = None
    verified: bool = False
    note: str = ""
    burst_bytes: int = 0
    drops: int = 0
    raw_bits_per_second: float | None = None  # of one connection between two hosts


def bus_bytes(op: str, size: int, ranks: int) -> float:
    """The bytes that `busbw` counts: with them, a figure compares with a link's rate."""
    name = _COLLECTIVES[op]
    return bus_factor(name, ranks) * moved_bytes(name, size, ranks)


def make_rows(place: Place, session: NcclSession, lines: list[dict[str, Any]]) -> list[NcclRow]:
    """A row for each line of the program."""
    drops, rate = place.drops(), place.raw_rate()
    raw_lines = {_job_of(line): line for line in lines if line["way"] == RAW}
    rows = []
    for line in lines:
        named = _named(place, session, line)
        if "failed" in line:
            names = {name: value for name, value in vars(named).items() if name != "note"}
            rows.append(failed_row(NcclRow, line["failed"], **names))
            continue
        problems = problems_of_line(line)
        if drops:
            problems.append(f"{drops} packets dropped")
        row = named
        if not problems:
            row = _figures(named, line, raw_lines.get(_job_of(line)))
            problems = problems_of_rate(row, place.bytes_per_second)
        if problems:
            row = replace(named, wrong=line["wrong"])
        row = replace(row, verified=not problems, drops=drops, raw_bits_per_second=rate)
        rows.append(replace(row, note="; ".join(problems) or row.note))
    return rows


def problems_of_line(line: dict[str, Any]) -> list[str]:
    """Why a line's figures cannot be trusted; empty if all is well."""
    problems = []
    if line["wrong"]:
        problems.append(f"{line['wrong']} elements are wrong")
    elif not line["sound"]:
        problems.append(f"errors are {line['relative_error']:.2g} of the values")
    # If every rank on the way codes anew, each has errors of its own.
    if not line["identical"] and line["way"] not in (PER_HOP, *BASELINES):
        problems.append("ranks that get the same do not have the same bits")
    return problems


def problems_of_rate(row: NcclRow, bytes_per_second: float | None) -> list[str]:
    """Whether an operation was faster than its links can be: then the token buckets had filled up
    before it, as on a busy machine, or NCCL did not use them. Where ranks share a link there is no
    such limit to name."""
    if bytes_per_second is None or row.hosts != row.ranks:
        return []
    assert row.busbw is not None and row.ratio is not None
    # Two ranks exchange whole frames in an all_reduce, which is what its definition counts, too.
    sent = row.busbw / row.ratio
    if sent > bytes_per_second * CREDIBLE_RATE / 1e9:
        took = f"{sent:.3f} GB/s, ratio {row.ratio:.2f}"
        return [f"it beat the link ({took}): does NCCL use another, is the machine busy?"]
    return []


def _job_of(line: dict[str, Any]) -> tuple[str, str, str, int]:
    return line["codec"], line["algorithm"], line["operation"], line["bytes"]


def _named(place: Place, session: NcclSession, line: dict[str, Any]) -> NcclRow:
    return NcclRow(
        link=place.name,
        op=line["operation"],
        codec=line["codec"],
        way=line["way"],
        dtype=session.data.dtype,
        data=session.data.name,
        ranks=line["ranks"],
        hosts=min(place.hosts, line["ranks"]),
        size=line["bytes"],
        algorithm=line["algorithm"],
        memory=line.get("memory"),
        gpu=line.get("gpu"),
        nccl_version=line.get("nccl_version"),
        burst_bytes=place.burst_bytes,
    )


def _figures(row: NcclRow, line: dict[str, Any], raw: dict[str, Any] | None) -> NcclRow:
    ratio = _ratio(row, line)
    same = (
        *("iterations", "seconds", "host_seconds", "calls", "compressed_calls", "spilled_blocks"),
        *("warm_up_calls", "wrong", "max_error", "relative_error"),
    )
    row = replace(
        row,
        **{name: line[name] for name in same},
        **{name: line[name] for name in PHASES if name in line},
        min_seconds=line["min"],
        max_seconds=line["max"],
        busbw=bus_bytes(row.op, row.size, row.ranks) / line["seconds"] / 1e9,
        ratio=ratio,
        note="" if row.way == RAW else _note(line),
    )
    if raw is None or row.way == RAW:
        return row
    speedup = raw["seconds"] / line["seconds"]
    return replace(
        row,
        raw_seconds=raw["seconds"],
        speedup=speedup,
        share=speedup / ratio if line["compressed_calls"] else None,
        added_host_seconds=line["host_seconds"] - raw["host_seconds"],
    )


def _ratio(row: NcclRow, line: dict[str, Any]) -> float:
    """With the blocks that did not fit their slots, which travel beside them as they are."""
    by_hops = row.way in (PER_HOP, *BASELINES)
    block = row.size / row.ranks if row.op == "all_reduce" and by_hops else row.size
    sent = line["wire_bytes"] + line["spilled_blocks"] * block
    return line["raw_bytes"] / sent if sent else 1.0


def _note(line: dict[str, Any]) -> str:
    done, calls, why = line["compressed_calls"], line["calls"], line["why_raw"]
    if not done:
        return f"NOT COMPRESSED: {why}"
    notes = [] if done == calls else [f"ONLY {done} of {calls} calls compressed: {why}"]
    if line["spilled_blocks"]:
        notes.append(f"{line['spilled_blocks']} blocks did not fit their slots")
    if not line["identical"]:
        notes.append("ranks differ in bits")
    return "; ".join(notes)
