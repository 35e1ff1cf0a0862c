"""The rows of `thinwire bench collective`: what OSU's benchmarks and nccl-tests print, and what
went over the wire."""

from dataclasses import dataclass, fields, replace
from typing import Any

from thinwire.bench.collective import CollectiveSession
from thinwire.bench.output import failed_row
from thinwire.bench.p2p_rows import CREDIBLE_RATE
from thinwire.bench.programs import Place

PER_HOP = "per-hop"
# Operations whose size is that of the whole array; of the others it is one rank's block.
OF_ARRAY = ("bcast", "reduce", "allreduce")


@dataclass(frozen=True)
class CollectiveRow:
    """One operation at one size in one way. Seconds are those of the slowest rank: the median of
    the iterations, with the least and the most; `native_` is the MPI's own, in the same job.

    `algbw` and `busbw` are GB/s as nccl-tests has them. `wire_bytes` are all ranks' together and
    `ratio` is what they would have been, over that. `predicted` is the library's own prediction,
    None if no link is stated. `bound` is what the library says of the largest error. Figures
    are None if the row is not verified, and `note` then says why.
    """

    link: str
    op: str
    codec: str
    algorithm: str
    coding: str
    memory: str
    data: str
    ranks: int
    nodes: int | None
    size: int
    iterations: int | None = None
    seconds: float | None = None
    min_seconds: float | None = None
    max_seconds: float | None = None
    native_seconds: float | None = None
    native_min_seconds: float | None = None
    native_max_seconds: float | None = None
    speedup: float | None = None
    algbw: float | None = None
    busbw: float | None = None
    native_busbw: float | None = None
    wrong: int | None = None
    wire_bytes: int | None = None
    ratio: float | None = None
    predicted: float | None = None
    predicted_raw: float | None = None
    max_error: float | None = None
    bound: float | None = None
    encode_seconds: float | None = None
    decode_seconds: float | None = None
    workspace_bytes: int | None = None
    verified: bool = False
    note: str = ""
    burst_bytes: int = 0
    drops: int = 0
    raw_bits_per_second: float | None = None  # of one connection between two hosts


def moved_bytes(op: str, size: int, ranks: int) -> int:
    """The bytes that `algbw` counts."""
    return size if op in OF_ARRAY else size * ranks


def bus_factor(op: str, ranks: int) -> float:
    """`busbw` over `algbw`: with it, a figure compares with a link's rate whatever the ranks."""
    if op in ("bcast", "reduce"):
        return 1.0
    share = (ranks - 1) / ranks
    return 2 * share if op == "allreduce" else share


def make_rows(
    place: Place, session: CollectiveSession, lines: list[dict[str, Any]]
) -> list[CollectiveRow]:
    """A row for each line of the program."""
    drops, rate = place.drops(), place.raw_rate()
    rows = []
    for line in lines:
        row = _named(place, session, line)
        if "failed" in line:
            rows.append(failed_row(CollectiveRow, line["failed"], **_names(row)))
            continue
        problems = problems_of_line(line)
        if drops:
            problems.append(f"{drops} packets dropped")
        if not problems:
            row = _figures(row, line)
            problems = problems_of_rate(row, place.bytes_per_second)
        if problems:
            row = replace(_named(place, session, line), wrong=line.get("wrong"))
        row = replace(row, verified=not problems, drops=drops, raw_bits_per_second=rate)
        rows.append(replace(row, note="; ".join(problems) or row.note))
    return rows


def without_schedules(
    lines: list[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lines to make rows of, and those to leave out: of ways that an operation has no schedule
    for, if it has one for others that were asked for."""
    ran = {line["operation"] for line in lines if "error" not in line}
    left_out = [line for line in lines if "error" in line and line["operation"] in ran]
    return [line for line in lines if line not in left_out], left_out


def problems_of_line(line: dict[str, Any]) -> list[str]:
    """Why a line's figures cannot be trusted; empty if all is well."""
    if "error" in line:
        return [line["error"]]
    problems = []
    if line["native_wrong"]:
        problems.append(f"{line['native_wrong']} elements of the MPI's own are wrong")
    if line["wrong"]:
        problems.append(f"{line['wrong']} elements are wrong")
    # If every rank on the way codes anew, each has errors of its own.
    if not line["identical"] and line["coding"] != PER_HOP:
        problems.append("ranks that get the same do not have the same bits")
    return problems


def problems_of_rate(row: CollectiveRow, bytes_per_second: float | None) -> list[str]:
    """Whether an operation was faster than its links can be: then the token buckets had filled up
    before it, as on a busy machine. Where ranks share a link there is no such limit to name."""
    if bytes_per_second is None or row.nodes != row.ranks:
        return []
    most = bytes_per_second * CREDIBLE_RATE / 1e9
    problems = []
    assert row.native_busbw is not None and row.busbw is not None and row.ratio is not None
    if row.native_busbw > most:
        problems.append("the MPI's own beat the link, is the machine busy?")
    if row.busbw / row.ratio > most:
        problems.append("compressed it beat the link, is the machine busy?")
    return problems


def _named(place: Place, session: CollectiveSession, line: dict[str, Any]) -> CollectiveRow:
    return CollectiveRow(
        link=place.name,
        op=line["operation"],
        codec=line["codec"],
        algorithm=line.get("algorithm", line["asked_algorithm"]),
        coding=line.get("coding", line["asked_coding"]),
        memory=line["memory"],
        data=session.data.name,
        ranks=line["ranks"],
        nodes=line["nodes"],
        size=line["bytes"],
        burst_bytes=place.burst_bytes,
    )


def _names(row: CollectiveRow) -> dict[str, Any]:
    """What a row says besides its outcome."""
    outcome = ("verified", "note")
    return {name: value for name, value in vars(row).items() if name not in outcome}


def _figures(row: CollectiveRow, line: dict[str, Any]) -> CollectiveRow:
    nbytes, factor = moved_bytes(row.op, row.size, row.ranks), bus_factor(row.op, row.ranks)
    named = {"predicted", "predicted_raw", "bound"}
    same = {field.name for field in fields(row)} & line.keys() - named
    return replace(
        row,
        **{name: line[name] for name in same},
        min_seconds=line["min"],
        max_seconds=line["max"],
        native_min_seconds=line["native_min"],
        native_max_seconds=line["native_max"],
        speedup=line["native_seconds"] / line["seconds"],
        algbw=nbytes / line["seconds"] / 1e9,
        busbw=factor * nbytes / line["seconds"] / 1e9,
        native_busbw=factor * nbytes / line["native_seconds"] / 1e9,
        ratio=line["raw_bytes"] / line["wire_bytes"] if line["wire_bytes"] else 1.0,
        predicted=line["predicted"] or None,
        predicted_raw=line["predicted_raw"] or None,
        bound=line["bound"] or None,
        note=_note(line),
    )


def _note(line: dict[str, Any]) -> str:
    if line["reason"]:
        return f"raw: {line['reason']}"
    return "" if line["identical"] else "ranks differ in bits"
