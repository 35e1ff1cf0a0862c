"""The table of `thinwire bench codec` on a GPU."""

from thinwire.bench.codec_gpu import Ceiling, GpuCodecRow
from thinwire.bench.output import Column, number
from thinwire.bench.tables import verdict


def _with_p90(median: float | None, p90: float | None) -> str:
    return "-" if median is None else f"{median:.1f} ({number(p90, '.1f')})"


def _relative_error(row: GpuCodecRow) -> str:
    if row.max_error is None or not row.range:
        return number(row.max_error, ".1e")
    return f"{row.max_error / row.range:.1e}"


COLUMNS: list[Column] = [
    ("codec", lambda row: row.codec),
    ("data", lambda row: row.data),
    ("dtype", lambda row: row.dtype),
    ("shape", lambda row: row.shape),
    ("KiB", lambda row: f"{row.bytes / 1024:.0f}"),
    ("ratio", lambda row: number(row.ratio, ".3f")),
    ("order 0", lambda row: number(row.order0_ratio, ".3f")),
    ("enc GB/s", lambda row: number(row.encode_gb_per_second, ".0f")),
    ("dec GB/s", lambda row: number(row.decode_gb_per_second, ".0f")),
    ("enc us", lambda row: number(row.encode_us, ".1f")),
    ("dec us", lambda row: number(row.decode_us, ".1f")),
    ("add us", lambda row: number(row.decode_add_us, ".1f")),
    ("ready us (p90)", lambda row: _with_p90(row.ready_us, row.ready_p90_us)),
    ("synced us", lambda row: number(row.ready_synced_us, ".1f")),
    ("graph ready", lambda row: _with_p90(row.graph_ready_us, row.graph_ready_p90_us)),
    ("decoded us", lambda row: number(row.decoded_us, ".1f")),
    ("synced us", lambda row: number(row.decoded_synced_us, ".1f")),
    ("pays below GB/s", lambda row: number(row.pays_below_gb_per_second, ".0f")),
    ("sums enc %", lambda row: number(row.encode_checksum_percent, "+.1f")),
    ("sums dec %", lambda row: number(row.decode_checksum_percent, "+.1f")),
    ("error/range", _relative_error),
    ("error/bound", lambda row: number(row.error_over_bound, ".3f")),
    ("", lambda row: verdict(row.verified, row.note)),
]


def notes(gpu: str, ceilings: list[Ceiling]) -> list[str]:
    """What a reader needs beside the rows: the machine, the roofs, the words."""
    lines = [f"{gpu}; GPU times include the cost of their two events"]
    for each in ceilings:
        lines.append(
            f"roof at {each.bytes} bytes: copy {each.copy_us:.1f} us "
            f"({each.bytes / each.copy_us / 1e3:.0f} GB/s), read N and write N/2 "
            f"{each.halve_us:.1f} us ({each.bytes / each.halve_us / 1e3:.0f} GB/s)"
        )
    lines.append(
        "ready, decoded: from an idle GPU until the host knows the frame's size, or that the array "
        "is there, by a polled word; synced: until the stream is finished; pays below: the link "
        "below which encode, send and decode in series beat raw; add: a decode that adds; sums: "
        "what chunk checksums add to GPU time"
    )
    return lines
