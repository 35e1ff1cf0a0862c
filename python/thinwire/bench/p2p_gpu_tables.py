"""The table of messages between GPUs."""

from rich.text import Text

from thinwire.bench.output import Column, number
from thinwire.bench.p2p_gpu import HOST
from thinwire.bench.p2p_gpu_rows import NATIVE, P2pGpuRow
from thinwire.bench.tables import verdict


def _speedup(row: P2pGpuRow) -> Text:
    if row.speedup is None or row.case in NATIVE:
        return Text(number(row.speedup, ".2f"))
    if row.speedup < 1:
        return Text(f"{row.speedup:.2f} loss", style="red")
    return Text(f"{row.speedup:.2f}", style="green")


def _scaled(value: float | None, factor: float, form: str) -> str:
    return number(None if value is None else factor * value, form)


GPU_COLUMNS: list[Column] = [
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


def gpu_notes(rows: list[P2pGpuRow]) -> list[str]:
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
