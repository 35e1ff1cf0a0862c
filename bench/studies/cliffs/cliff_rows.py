"""Rows of what codec_gpu answered, and which of them fall below a neighbour."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from cliff_cases import POINTS, RANKS, TYPES, Case, Request

from thinwire.bench import specs

LEAST_SHARE = 0.7
RATES = ("encode", "decode", "add")
COLUMNS = (
    *("codec", "type", "point", "rank", "ratio", "encode", "decode", "add"),
    *("encode us", "ready us", "late us", "below", "note"),
)


@dataclass(frozen=True)
class Row:
    """GB/s of uncompressed bytes, `add` of a decode that adds to an array; `late_us` is how much
    longer than the GPU's own time it takes until the host knows the size. None if the case is not
    verified, or declined, or the codec does not add."""

    case: Case
    ratio: float | None = None
    encode: float | None = None
    decode: float | None = None
    add: float | None = None
    encode_us: float | None = None
    ready_us: float | None = None
    note: str = ""

    @property
    def late_us(self) -> float | None:
        if self.ready_us is None or self.encode_us is None:
            return None
        return self.ready_us - self.encode_us


@dataclass(frozen=True)
class Below:
    """A rate that is so small a share of a neighbour's."""

    what: str  # RATES
    share: float
    neighbour: Case

    def text(self, case: Case) -> str:
        other = self.neighbour
        changed = (
            ("", case.dtype, other.dtype),
            ("point ", case.point, other.point),
            ("rank ", case.rank, other.rank),
        )
        named = ", ".join(f"{word}{there}" for word, here, there in changed if here != there)
        return f"{self.what} {self.share:.2f} of {named}"


def answers(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What codec_gpu said of each request; its first line tells the GPU. An answer that is cut
    ends them."""
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:
            return
        if "verified" in said:
            yield said


def row_of(request: Request, said: dict[str, Any]) -> Row:
    row = Row(request.case)
    if not said["verified"]:
        return replace(row, note=f"not verified: {said.get('note', '')}")
    if said["declined"]:
        return replace(row, note="declined: goes raw")
    bound = specs.bound_of(request.spec, said["range"])
    if bound is not None and not specs.is_within(said["max_error"], bound):
        return replace(row, note=f"an error of {said['max_error']:.3g}, {bound:.3g} is allowed")
    return Row(
        request.case,
        ratio=said["bytes"] / said["frame_bytes"],
        encode=_rate(said, "encode_us"),
        decode=_rate(said, "decode_us"),
        add=_rate(said, "decode_add_us"),
        encode_us=said["encode_us"],
        ready_us=said["ready_us"],
    )


def _rate(said: dict[str, Any], name: str) -> float | None:
    return said["bytes"] / said[name] / 1e3 if name in said else None


def rows_of(wanted: list[Request], said: Iterable[dict[str, Any]]) -> list[Row]:
    """A row for each request, in order; those after the last answer say that there is none."""
    found = [row_of(request, each) for request, each in zip(wanted, said, strict=False)]
    return found + [Row(each.case, note="no answer") for each in wanted[len(found) :]]


def neighbours(case: Case) -> Iterator[Case]:
    """Cases of the same codec with one of type, point and rank changed by one step."""
    widths = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2}
    for dtype in TYPES:
        ratio = widths[dtype] / widths[case.dtype]
        if dtype != case.dtype and 0.5 <= ratio <= 2:
            yield replace(case, dtype=dtype)
    for point in POINTS:
        if abs(point - case.point) == 1:
            yield replace(case, point=point)
    for rank in RANKS:
        if abs(rank - case.rank) == 1:
            yield replace(case, rank=rank)


def below(row: Row, rates: dict[Case, Row]) -> list[Below]:
    """The neighbours that a row falls below, the furthest first."""
    found = []
    for other in neighbours(row.case):
        if other not in rates:
            continue
        for what in RATES:
            own, its = getattr(row, what), getattr(rates[other], what)
            if own is not None and its is not None and own < LEAST_SHARE * its:
                found.append(Below(what, own / its, other))
    return sorted(found, key=lambda each: each.share)


def as_csv(rows: list[Row], run: str) -> str:
    """Rows as bench/results keeps them: the first column names the run."""
    rates = {row.case: row for row in rows}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("run", *COLUMNS))
    for row in rows:
        case = row.case
        said = "; ".join(each.text(case) for each in below(row, rates))
        figures = (
            *(_figure(row.ratio, 3), *(_figure(getattr(row, rate), 0) for rate in RATES)),
            *(_figure(row.encode_us, 1), _figure(row.ready_us, 1), _figure(row.late_us, 1)),
        )
        named = (run, case.codec, case.dtype, case.point, case.rank)
        writer.writerow((*named, *figures, said, row.note))
    return out.getvalue()


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
