"""The table of `thinwire bench collective`."""

from thinwire.bench.collective_rows import CollectiveRow
from thinwire.bench.output import Column, number
from thinwire.bench.tables import milliseconds, speedup, verdict

COLUMNS: list[Column] = [
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


def notes(rows: list[CollectiveRow]) -> list[str]:
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
