"""What the runs over one link amount to: verified, won or lost, and what could be had at most."""

from dataclasses import dataclass, replace

from thinwire.bench.expected import Expected, allowed_speedup, refill_seconds
from thinwire.bench.output import failed_row
from thinwire.bench.p2p import NATIVE, STARTUP_BYTES, Runs, Session, expect_all, run_link
from thinwire.bench.programs import Place

# A multiple of the link's rate. While the filler is acknowledged, a few bytes' worth of credit
# gathers.
CREDIBLE_RATE = 1.02


@dataclass(frozen=True)
class P2pRow:
    """One message size under one codec. Seconds are one-way: the median of a round's messages,
    and of the rounds; `min` is the fastest message of all. `allowed_speedup` is what the cost
    model allows, `raw_bits_per_second` what the native message reached, `refill_seconds` the most
    by which the emulated link can have flattered the codec. Figures are None if the row is not
    verified, and `note` then says why."""

    link: str
    codec: str
    bytes: int
    native_seconds: float | None
    codec_seconds: float | None
    native_min_seconds: float | None
    codec_min_seconds: float | None
    speedup: float | None
    allowed_speedup: float | None
    ratio: float | None
    max_error: float | None
    raw_bits_per_second: float | None
    refill_seconds: float | None
    verified: bool
    note: str
    burst_bytes: int
    drops: int


def measure(place: Place, session: Session) -> list[P2pRow]:
    """All rows of a place. BenchError if nothing can run."""
    expected = expect_all(session)
    return make_rows(place, run_link(place, session), expected)


def make_rows(
    place: Place, runs: dict[str, Runs], expected: dict[tuple[str, int], Expected]
) -> list[P2pRow]:
    """A row for each (spec, message size) of `expected`."""
    drops = place.drops()
    rows = []
    for (spec, size), hoped in expected.items():
        failure = runs[NATIVE].failure or runs[spec].failure
        if failure:
            rows.append(failed_row(P2pRow, failure, link=place.name, codec=spec, bytes=size))
            continue
        of_codec = {at: each for (other, at), each in expected.items() if other == spec}
        problems = problems_of_reports(runs[spec], of_codec)
        problems += problems_of_message(runs, spec, size, hoped)
        if drops:
            problems.append(f"{drops} packets dropped")
        row = _figures(place, runs, spec, size, hoped)
        problems += problems_of_rate(row, place.bytes_per_second)
        if problems:
            row = _without_figures(row, "; ".join(dict.fromkeys(problems)))
        rows.append(replace(row, drops=drops))
    return rows


def problems_of_message(runs: dict[str, Runs], spec: str, size: int, hoped: Expected) -> list[str]:
    """Why the messages of one size cannot be trusted; empty if all is well."""
    problems = []
    native, compressed = runs[NATIVE].lines(size), runs[spec].lines(size)
    if not all(line["verified"] and line["identical"] for line in native):
        problems.append("the native run changed the values")
    if not all(line["verified"] for line in compressed):
        problems.append("values are missing, not finite, or not always the same")
    for line in compressed:
        if line["identical"] != hoped.identical or line["max_error"] != hoped.max_error:
            problems.append(
                f"max error {line['max_error']:.9g} where the codec makes {hoped.max_error:.9g}"
            )
    return problems


def problems_of_rate(row: P2pRow, bytes_per_second: float | None) -> list[str]:
    """Whether a message was faster than its link can be: then the token bucket had filled up
    before it, as it does when a busy machine delays the sender."""
    if bytes_per_second is None:
        return []
    assert row.native_seconds is not None and row.codec_seconds is not None
    assert row.refill_seconds is not None and row.ratio is not None
    problems = []
    rate = bytes_per_second * CREDIBLE_RATE
    if row.native_seconds < row.bytes / rate:
        problems.append("native messages beat the link, is the machine busy?")
    if row.codec_seconds + row.refill_seconds < row.bytes / row.ratio / rate:
        problems.append("compressed messages beat the link, is the machine busy?")
    return problems


def problems_of_reports(runs: Runs, expected: dict[int, Expected]) -> list[str]:
    """Whether the shim compressed what it should have, and decoded all of it."""
    problems = []
    for lines, report in zip(runs.rounds, runs.reports, strict=True):
        wanted = sum(lines[size]["messages"] for size in expected if expected[size].compressed)
        coded, decoded = report["compressed_messages"], report["decoded_messages"]
        if coded != wanted:
            problems.append(f"{coded} messages were compressed, not {wanted}")
        if decoded != coded or report["damaged_messages"]:
            problems.append(f"{decoded} of {coded} compressed messages were decoded")
    return problems


def _figures(place: Place, runs: dict[str, Runs], spec: str, size: int, hoped: Expected) -> P2pRow:
    native, compressed = runs[NATIVE].seconds(size), runs[spec].seconds(size)
    startup = runs[NATIVE].seconds(STARTUP_BYTES)
    return P2pRow(
        link=place.name,
        codec=spec,
        bytes=size,
        native_seconds=native,
        codec_seconds=compressed,
        native_min_seconds=runs[NATIVE].fastest(size),
        codec_min_seconds=runs[spec].fastest(size),
        speedup=native / compressed,
        allowed_speedup=allowed_speedup(native, startup, hoped),
        ratio=hoped.ratio,
        max_error=hoped.max_error,
        raw_bits_per_second=8 * size / native,
        refill_seconds=refill_seconds(hoped, place.burst_bytes, place.bytes_per_second),
        verified=True,
        note=f"raw: {hoped.why_raw}" if hoped.why_raw else "",
        burst_bytes=place.burst_bytes,
        drops=0,
    )


def _without_figures(row: P2pRow, why: str) -> P2pRow:
    return replace(
        row,
        native_seconds=None,
        codec_seconds=None,
        native_min_seconds=None,
        codec_min_seconds=None,
        speedup=None,
        allowed_speedup=None,
        ratio=None,
        max_error=None,
        raw_bits_per_second=None,
        refill_seconds=None,
        verified=False,
        note=why,
    )
