"""The tables of what is measured on GPUs: `thinwire bench codec`, and messages between them."""

from rich.text import Text

from thinwire.bench.codec_gpu import Ceiling, GpuCodecRow
from thinwire.bench.output import Column, number
from thinwire.bench.p2p_gpu import HOST
from thinwire.bench.p2p_gpu_rows import NATIVE, P2pGpuRow
from thinwire.bench.tables import verdict


def _with_p90(median: float | None, p90: float | None) -> str:
    return "-" if median is None else f"{median:.1f} ({number(p90, '.1f')})"


def _relative_error(row: GpuCodecRow) -> str:
    if row.max_error is None or not row.range:
        return number(row.max_error, ".1e")
    return f"{row.max_error / row.range:.1e}"


GPU_CODEC_COLUMNS: list[Column] = [
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


def gpu_codec_notes(gpu: str, ceilings: list[Ceiling]) -> list[str]:
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


def _speedup(row: P2pGpuRow) -> Text:
    if row.speedup is None or row.case in NATIVE:
        return Text(number(row.speedup, ".2f"))
    if row.speedup < 1:
        return Text(f"{row.speedup:.2f} loss", style="red")
    return Text(f"{row.speedup:.2f}", style="green")


def _scaled(value: float | None, factor: float, form: str) -> str:
    return number(None if value is None else factor * value, form)


GPU_P2P_COLUMNS: list[Column] = [
    ("link", lambda row: row.link),
    ("case", lambda row: row.case),
    ("bytes", lambda row: str(row.bytes)),
    ("ms", lambda row: _scaled(row.seconds, 1e3, ".3f")),
    ("Gbit/s", lambda row: _scaled(row.bits_per_second, 1e-9, ".2f")),
    ("vs staged", _speedup),
    ("ideal", lambda row: number(row.ideal_speedup, ".2f")),
    (
        "of ideal",
        lambda row: _scaled(row.ideal_reached, 100, ".0f") + "%" * bool(row.ideal_reached),
    ),
    ("encode ms", lambda row: _scaled(row.encode_seconds or None, 1e3, ".3f")),
    ("decode ms", lambda row: _scaled(row.decode_seconds or None, 1e3, ".3f")),
    ("ratio", lambda row: number(row.ratio, ".2f")),
    ("of file", lambda row: number(row.file_ratio, ".2f")),
    ("max error", lambda row: number(row.max_error, ".3g")),
    ("", lambda row: verdict(row.verified, row.note)),
]


def gpu_p2p_notes(rows: list[P2pGpuRow]) -> list[str]:
    """What a reader needs to judge the rows of each link."""
    notes = []
    for link in dict.fromkeys(row.link for row in rows):
        of_link = [row for row in rows if row.link == link]
        hosts = [row for row in of_link if row.case == HOST]
        if not hosts:
            continue
        host = max(hosts, key=lambda row: row.bytes)
        reached = _scaled(host.bits_per_second, 1e-6, ".0f")
        bucket = (
            f"token bucket of {host.burst_bytes} bytes, each timed message after a filler of two, "
            f"{host.drops} drops"
            if host.burst_bytes
            else "not shaped"
        )
        notes.append(f"{link}: {reached} Mbit/s reached raw, host to host; {bucket}")
        gpus = next((row.gpus for row in of_link if row.gpus), [])
        if gpus:
            alone = "" if len(set(gpus)) == len(gpus) else ": both ranks share one GPU"
            notes.append(f"{link}: GPUs {', '.join(gpus)}{alone}")
    for basis in dict.fromkeys(row.ideal_basis for row in rows if "(" in row.ideal_basis):
        notes.append(f"ideal: {basis}")
    return notes
