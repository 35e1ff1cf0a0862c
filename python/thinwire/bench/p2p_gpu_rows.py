"""What the runs between GPUs amount to: verified, won or lost, and what could be had at most."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thinwire.bench.buffers import FrameBuffers
from thinwire.bench.expected import Expected
from thinwire.bench.output import failed_row
from thinwire.bench.p2p import STARTUP_BYTES, Runs, Session
from thinwire.bench.p2p_gpu import (
    DIRECT,
    HOST,
    STAGED,
    Case,
    GpuExpected,
    all_cases,
    expect_on_gpu,
    run_gpu_link,
)
from thinwire.bench.p2p_rows import CREDIBLE_RATE, problems_of_reports
from thinwire.bench.programs import Place
from thinwire.codec import Codec

NATIVE = (HOST, STAGED, DIRECT)

RAW_MESSAGE = GpuExpected(Expected(compressed=False, identical=True), 0, 0)


@dataclass(frozen=True)
class P2pGpuRow:
    """One message size in one case. `seconds` are one-way, from GPU memory to GPU memory (host to
    host in the first case): the median of a round's messages, and of the rounds.

    `speedup` compares with staging by hand. `ideal_speedup` is what would be left of that message
    with the codec's own seconds and the encoded bytes on the wire, at the rate that host messages
    reached, and nothing else: no copy between GPU and host. `ideal_basis` says whether codec
    seconds are in it. Figures are None if the row is not verified, and `note` then says why."""

    link: str
    case: str
    memory: str
    bytes: int
    seconds: float | None
    min_seconds: float | None
    bits_per_second: float | None
    speedup: float | None
    ideal_speedup: float | None
    ideal_reached: float | None
    ideal_basis: str
    encode_seconds: float | None
    decode_seconds: float | None
    ratio: float | None
    file_ratio: float | None
    max_error: float | None
    verified: bool
    note: str
    gpus: list[str]
    burst_bytes: int
    drops: int


FIGURES = (
    "seconds",
    "min_seconds",
    "bits_per_second",
    "speedup",
    "ideal_speedup",
    "ideal_reached",
    "encode_seconds",
    "decode_seconds",
    "ratio",
    "file_ratio",
    "max_error",
)


def measure_link(place: Place, session: Session, period: np.ndarray) -> list[P2pGpuRow]:
    """All rows of a place. `period` holds the fp32 values that the session's repeat, for the ratio
    that they have by themselves. Raises BenchError if nothing can run."""
    ratios = {codec.spec: _ratio(codec, period) for codec in session.codecs}
    expected = expect_on_gpu(session)
    return make_gpu_rows(place, session, run_gpu_link(place, session), expected, ratios)


def _ratio(codec: Codec, values: np.ndarray) -> float:
    buffers = FrameBuffers(codec, values, "f32")
    buffers.encode()
    return max(1.0, values.nbytes / len(buffers.frame))


def make_gpu_rows(
    place: Place,
    session: Session,
    runs: dict[str, Runs],
    expected: dict[tuple[str, int], GpuExpected],
    file_ratios: dict[str, float],
) -> list[P2pGpuRow]:
    """A row for each case and message size; `file_ratios` are those of the codecs' specs on the
    data before it was repeated to the sizes."""
    drops = place.drops()
    rows = []
    for case in all_cases(place, session.codecs):
        of_case = {
            size: RAW_MESSAGE if case.codec is None else expected[case.codec.spec, size]
            for size in session.sizes
        }
        # Every figure is over those of the first two.
        failures = [runs[name].failure for name in (HOST, STAGED, case.name)]
        if any(failures):
            facts = {"link": place.name, "case": case.name, "memory": case.memory}
            why = next(filter(None, failures))
            rows += [failed_row(P2pGpuRow, why, bytes=size, **facts) for size in of_case]
            continue
        shared = [f"{drops} packets dropped"] if drops else []
        shared += _problems_of_shim(case, runs[case.name], of_case)
        for size, hoped in of_case.items():
            row = _figures(place, case, runs, size, hoped)
            row = replace(row, drops=drops, file_ratio=file_ratios.get(row.case, row.ratio))
            problems = shared + _problems_of_message(runs[case.name], size, hoped.message)
            problems += _problems_of_native(runs, size)
            problems += _problems_of_rate(row, place)
            rows.append(_without_figures(row, problems) if problems else row)
    return rows


def ideal_speedup(
    staged_seconds: float, host_seconds: float, startup_seconds: float, hoped: GpuExpected
) -> float:
    """`staged_seconds` over Ts + Tc + S/(CR*B) + Td, with Ts and B as host messages show them;
    Tc and Td are left out if they are not known."""
    transfer = max(0.0, host_seconds - startup_seconds)
    codec = (hoped.encode_seconds or 0) + (hoped.decode_seconds or 0)
    return staged_seconds / (startup_seconds + codec + transfer / hoped.message.ratio)


def _figures(
    place: Place, case: Case, runs: dict[str, Runs], size: int, hoped: GpuExpected
) -> P2pGpuRow:
    own, staged, host = runs[case.name], runs[STAGED], runs[HOST]
    seconds = own.seconds(size)
    speedup = staged.seconds(size) / seconds
    ideal = ideal_speedup(
        staged.seconds(size), host.seconds(size), host.seconds(STARTUP_BYTES), hoped
    )
    native = case.spec is None
    return P2pGpuRow(
        link=place.name,
        case=case.name,
        memory=case.memory,
        bytes=size,
        seconds=seconds,
        min_seconds=own.fastest(size),
        bits_per_second=8 * size / seconds,
        speedup=speedup,
        ideal_speedup=None if native else ideal,
        ideal_reached=None if native else speedup / ideal,
        ideal_basis="" if native else _basis(hoped),
        encode_seconds=hoped.encode_seconds,
        decode_seconds=hoped.decode_seconds,
        ratio=hoped.message.ratio,
        file_ratio=None,
        max_error=hoped.message.max_error,
        verified=True,
        note=f"raw: {hoped.message.why_raw}" if hoped.message.why_raw else "",
        gpus=own.lines(size)[0]["gpus"],
        burst_bytes=place.burst_bytes,
        drops=0,
    )


def _basis(hoped: GpuExpected) -> str:
    if hoped.why_no_seconds:
        return f"wire only ({hoped.why_no_seconds})"
    return "wire and codec on the GPU" if hoped.message.compressed else "wire only"


def _problems_of_shim(case: Case, runs: Runs, of_case: dict[int, GpuExpected]) -> list[str]:
    if case.spec is None:
        return []
    return problems_of_reports(runs, {size: hoped.message for size, hoped in of_case.items()})


def _problems_of_native(runs: dict[str, Runs], size: int) -> list[str]:
    lines = [line for name in NATIVE if name in runs for line in runs[name].lines(size)]
    sound = all(line["verified"] and line["identical"] for line in lines)
    return [] if sound else ["a native run changed the values"]


def _problems_of_message(runs: Runs, size: int, hoped: Expected) -> list[str]:
    problems = []
    for line in runs.lines(size):
        if not line["verified"]:
            problems.append("values are missing, not finite, or not always the same")
        if line["identical"] != hoped.identical or line["max_error"] != hoped.max_error:
            problems.append(
                f"max error {line['max_error']:.9g} where the codec makes {hoped.max_error:.9g}"
            )
    return problems


def _problems_of_rate(row: P2pGpuRow, place: Place) -> list[str]:
    """Whether the message was faster than its link can be, the most added that the token bucket
    can have gathered while the sender encoded."""
    if place.bytes_per_second is None:
        return []
    refill = place.burst_bytes / place.bytes_per_second
    if row.encode_seconds is not None:
        refill = min(refill, row.encode_seconds)
    assert row.ratio is not None and row.seconds is not None
    wire_seconds = row.bytes / row.ratio / (place.bytes_per_second * CREDIBLE_RATE)
    return ["messages beat the link, is the machine busy?"] * (row.seconds + refill < wire_seconds)


def _without_figures(row: P2pGpuRow, problems: list[str]) -> P2pGpuRow:
    nothing: dict[str, Any] = dict.fromkeys(FIGURES)
    return replace(row, **nothing, verified=False, note="; ".join(dict.fromkeys(problems)))
