"""The tables of `thinwire bench`: what loses is called a loss."""

from rich.text import Text

from thinwire.bench.collective_rows import CollectiveRow
from thinwire.bench.output import Column, number
from thinwire.bench.p2p_rows import P2pRow
from thinwire.bench.raw_rows import RawRow

# The part of a message's time from which the token bucket's help is worth a word.
NOTED_REFILL = 0.05


def verdict(verified: bool, note: str) -> Text:
    """The last column of every table."""
    if not verified:
        return Text(f"NOT VERIFIED: {note}", style="bold red")
    return Text(f"verified, {note}" if note else "verified")


CODEC_COLUMNS: list[Column] = [
    ("codec", lambda row: row.codec),
    ("data", lambda row: row.data),
    ("dtype", lambda row: row.dtype),
    ("shape", lambda row: row.shape),
    ("MB", lambda row: number(row.bytes / 1e6, ".2f")),
    ("encode GB/s", lambda row: number(row.encode_gb_per_second, ".3f")),
    ("decode GB/s", lambda row: number(row.decode_gb_per_second, ".3f")),
    ("ratio", lambda row: number(row.ratio, ".3f")),
    ("order 0", lambda row: number(row.order0_ratio, ".3f")),
    ("max error", lambda row: number(row.max_error, ".3g")),
    ("of bound", lambda row: number(row.error_over_bound, ".3f")),
    ("PSNR dB", lambda row: number(row.psnr, ".1f")),
    ("", lambda row: verdict(row.verified, row.note)),
]


def milliseconds(seconds: float | None) -> str:
    """A column of times."""
    return number(None if seconds is None else 1e3 * seconds, ".3f")


def speedup(row: P2pRow | CollectiveRow) -> Text:
    """A column of gains over the native run."""
    if row.speedup is None:
        return Text("-")
    if row.speedup < 1:
        return Text(f"{row.speedup:.2f} loss", style="red")
    return Text(f"{row.speedup:.2f}", style="green" if row.ratio != 1 else "")


P2P_COLUMNS: list[Column] = [
    ("link", lambda row: row.link),
    ("codec", lambda row: row.codec),
    ("bytes", lambda row: str(row.bytes)),
    ("native ms", lambda row: milliseconds(row.native_seconds)),
    ("codec ms", lambda row: milliseconds(row.codec_seconds)),
    ("speed-up", speedup),
    ("allowed", lambda row: number(row.allowed_speedup, ".2f")),
    ("ratio", lambda row: number(row.ratio, ".2f")),
    ("max error", lambda row: number(row.max_error, ".3g")),
    ("", lambda row: verdict(row.verified, _p2p_note(row))),
]


def _p2p_note(row: P2pRow) -> str:
    if row.refill_seconds is None or row.codec_seconds is None:
        return row.note
    if row.refill_seconds < NOTED_REFILL * row.codec_seconds:
        return row.note
    return f"up to {1e3 * row.refill_seconds:.2f} ms flattered"


def p2p_notes(rows: list[P2pRow]) -> list[str]:
    """What a reader needs to judge the rows of each link."""
    notes = []
    for link in dict.fromkeys(row.link for row in rows):
        of_link = [row for row in rows if row.link == link]
        first = max(of_link, key=lambda row: (row.verified, row.bytes))
        rate = first.raw_bits_per_second
        reached = "no verified rate" if rate is None else f"{rate / 1e6:.0f} Mbit/s reached raw"
        bucket = (
            f"token bucket of {first.burst_bytes} bytes, each timed message after a filler of "
            f"two, {first.drops} drops"
            if first.burst_bytes
            else "not shaped"
        )
        notes.append(f"{link}: {reached}; {bucket}")
    return notes


OVERHEAD_COLUMNS: list[Column] = [
    ("bytes", lambda row: str(row.bytes)),
    ("alternations", lambda row: str(row.alternations)),
    ("messages", lambda row: str(row.messages)),
    ("native ns", lambda row: number(row.native_nanoseconds, ".1f")),
    ("shim ns", lambda row: number(row.shim_nanoseconds, ".1f")),
    ("added ns", lambda row: number(row.added_nanoseconds, "+.1f")),
    ("", lambda row: verdict(row.verified, row.note)),
]


def _against_wanted(row: RawRow) -> Text:
    if row.ratio_bound is None:
        return Text("-")
    words = f"{row.ratio_bound:.4f}"
    return Text(words, "green") if row.within else Text(f"{words} above", "red")


RAW_COLUMNS: list[Column] = [
    ("link", lambda row: row.link),
    ("shim", lambda row: row.setting),
    ("bytes", lambda row: str(row.bytes)),
    ("pairs", lambda row: str(row.pairs)),
    ("rounds", lambda row: str(row.rounds)),
    ("native ms", lambda row: milliseconds(row.native_seconds)),
    ("shim ms", lambda row: milliseconds(row.shim_seconds)),
    ("ratio", lambda row: number(row.ratio, ".4f")),
    ("95% below", _against_wanted),
    ("wanted", lambda row: number(row.wanted, ".2f")),
    ("", lambda row: verdict(row.verified, row.note)),
]


def raw_notes(rows: list[RawRow]) -> list[str]:
    """What the shim counted in the last job of each link."""
    first_of_link = {row.link: row for row in reversed(rows)}
    return [
        f"{link}, a round: of {row.messages} timed and warm-up messages and their fillers "
        f"{row.receives_in_place} received in place, {row.continuations} continuations, "
        f"{row.allocations} allocations"
        for link, row in reversed(first_of_link.items())
        if row.continuations is not None
    ]
