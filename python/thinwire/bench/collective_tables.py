"""The tables of `thinwire bench collective` and `thinwire bench nccl`."""

from rich.text import Text

from thinwire.bench.collective_rows import CollectiveRow
from thinwire.bench.nccl import PLANNED, RAW
from thinwire.bench.nccl_rows import NcclRow
from thinwire.bench.output import Column, number
from thinwire.bench.tables import milliseconds, speedup, verdict

COLLECTIVE_COLUMNS: list[Column] = [
    ("op", lambda row: row.op),
    ("codec", lambda row: row.codec),
    ("algorithm", lambda row: f"{row.algorithm} {row.coding}"),
    ("bytes", lambda row: str(row.size)),
    ("native ms", lambda row: milliseconds(row.native_seconds)),
    ("ms", lambda row: milliseconds(row.seconds)),
    ("min", lambda row: milliseconds(row.min_seconds)),
    ("max", lambda row: milliseconds(row.max_seconds)),
    ("predicted", lambda row: milliseconds(row.predicted)),
    ("speed-up", speedup),
    ("algbw", lambda row: number(row.algbw, ".4f")),
    ("busbw", lambda row: number(row.busbw, ".4f")),
    ("wrong", lambda row: "-" if row.wrong is None else str(row.wrong)),
    ("wire bytes", lambda row: "-" if row.wire_bytes is None else str(row.wire_bytes)),
    ("ratio", lambda row: number(row.ratio, ".2f")),
    ("max error", lambda row: number(row.max_error, ".3g")),
    ("", lambda row: verdict(row.verified, row.note)),
]


def collective_notes(rows: list[CollectiveRow]) -> list[str]:
    """What a reader needs to judge the rows of each link."""
    lines = []
    for link in dict.fromkeys(row.link for row in rows):
        first = next(row for row in rows if row.link == link)
        rate = first.raw_bits_per_second
        reached = f"{rate / 1e6:.0f} Mbit/s of one connection raw; " if rate else ""
        bucket = (
            f"token bucket of {first.burst_bytes} bytes, each timed operation after a filler of "
            f"two on every link both ways, {first.drops} drops"
            if first.burst_bytes
            else "not shaped"
        )
        lines.append(
            f"{link}: {first.ranks} ranks on {first.nodes} nodes, {first.memory} memory, "
            f"{first.data} data; {reached}{bucket}"
        )
    lines.append("algbw and busbw in GB/s as nccl-tests has them; native: the MPI's own, same job")
    return lines


def _nccl_speedup(row: NcclRow) -> Text:
    if row.speedup is None:
        return Text("-")
    if row.speedup < 1 and row.compressed_calls:
        return Text(f"{row.speedup:.2f} loss", style="red")
    return Text(f"{row.speedup:.2f}", style="green" if row.compressed_calls else "")


def _operation(row: NcclRow) -> str:
    words = [row.op, row.way]
    if row.way != RAW:
        words += [row.codec] + [row.algorithm] * (row.algorithm != PLANNED)
    return " ".join(words)


def _microseconds(seconds: float | None, form: str = ".1f") -> str:
    return number(None if seconds is None else 1e6 * seconds, form)


def _compressed(row: NcclRow) -> Text:
    if row.calls is None or row.way == RAW:
        return Text("-")
    words = f"{row.compressed_calls}/{row.calls}"
    return Text(words, style="" if row.compressed_calls == row.calls else "bold red")


NCCL_COLUMNS: list[Column] = [
    ("link", lambda row: row.link),
    ("operation", _operation),
    ("bytes", lambda row: str(row.size)),
    ("ms", lambda row: milliseconds(row.seconds)),
    ("min", lambda row: milliseconds(row.min_seconds)),
    ("max", lambda row: milliseconds(row.max_seconds)),
    ("busbw", lambda row: number(row.busbw, ".4f")),
    ("speed-up", _nccl_speedup),
    ("ratio", lambda row: number(row.ratio, ".2f")),
    ("of ratio", lambda row: number(row.share, ".2f")),
    ("host us", lambda row: _microseconds(row.host_seconds)),
    ("added us", lambda row: _microseconds(row.added_host_seconds, "+.1f")),
    ("compressed", _compressed),
    ("spilled", lambda row: str(row.spilled_blocks) if row.compressed_calls else "-"),
    ("max error", lambda row: number(row.max_error, ".3g")),
    ("", lambda row: verdict(row.verified, row.note)),
]


def nccl_notes(rows: list[NcclRow]) -> list[str]:
    """What a reader needs to judge the rows of each link."""
    lines = []
    for link in dict.fromkeys(row.link for row in rows):
        of_link = [row for row in rows if row.link == link]
        first = next((row for row in of_link if row.memory), of_link[0])
        rate = first.raw_bits_per_second
        reached = f"{rate / 1e6:.0f} Mbit/s of one connection raw; " if rate else ""
        bucket = (
            f"token bucket of {first.burst_bytes} bytes, each turn after a filler of two on every "
            f"link both ways, {first.drops} drops"
            if first.burst_bytes
            else "not shaped"
        )
        where = first.gpu or f"{first.memory or 'no'} memory"
        lines.append(
            f"{link}: {first.ranks} ranks on {first.hosts} hosts, {where}, NCCL "
            f"{first.nccl_version or '-'}, {first.data} data ({first.dtype}); {reached}{bucket}"
        )
    lines.append(
        "busbw in GB/s of uncompressed bytes as nccl-tests has it; of ratio: speed-up over raw, by "
        "the ratio; host us: until a call returns"
    )
    if any(row.warm_up_calls for row in rows):
        most = max(row.warm_up_calls or 0 for row in rows)
        lines.append(f"compressed calls are timed once ranks have agreed: {most} calls at most")
    return lines
