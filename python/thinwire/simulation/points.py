"""Measured points: rows that `thinwire bench collective --json` wrote, and what is predicted of
each."""

import json
import math
import random
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from thinwire.codec import Codec, CodecCost
from thinwire.comm.operation_names import algorithms, codings, operations
from thinwire.errors import ThinwireError
from thinwire.library import parse_link_rate
from thinwire.plan import PlanSettings, plan_collective
from thinwire.simulation.machine import Machine
from thinwire.simulation.run import Call, run

# As near to the measured time as a prediction should be.
NEAR = 0.15
# Figures of a row stay between these: seconds, and bytes, ratios and rates.
MOST_SECONDS, MOST = 1e6, 1e18
# Halves are drawn by this number, so that they are the same each time.
SEED = 20261129


@dataclass(frozen=True)
class Point:
    """One measured row. `ratio` is what it reached, `burst` the bytes that the link lets through
    at once; the rank that coded longest did so for `encode_seconds` and `decode_seconds`, 0 if
    nobody says."""

    call: Call
    link: float
    codec: str
    algorithm: str
    coding: str
    seconds: float
    ratio: float
    burst: float = 0.0
    encode_seconds: float = 0.0
    decode_seconds: float = 0.0

    @property
    def is_coded(self) -> bool:
        return self.codec != "off"


def read_points(paths: list[Path], *, fastest: bool = False) -> list[Point]:
    """The rows that have figures and a link, between ranks on nodes of equal size: the median of
    each, or its fastest turn. ValueError for files that hold none."""
    which = "min_seconds" if fastest else "seconds"
    points = []
    for path in paths:
        try:
            rows = json.loads(path.read_text())
            points += [_point_of(row, which) for row in rows if _is_whole(row)]
        except (
            LookupError,
            TypeError,
            AttributeError,
            ArithmeticError,
            ValueError,
            RecursionError,
            ThinwireError,
        ) as error:
            raise ValueError(
                f"{path}: no rows of `thinwire bench collective --json`: {error}"
            ) from error
    if len(points) < 2:
        names = ", ".join(map(str, paths))
        raise ValueError(f"{names}: {len(points)} rows with figures, which are too few")
    return points


def _is_whole(row: dict[str, Any]) -> bool:
    """A row with figures; raw packets under a codec are another thing than the model has."""
    raw = row["codec"] != "off" and str(row["note"]).startswith("raw")
    return bool(row["verified"] and row["seconds"] and row["nodes"]) and not raw


def _point_of(row: dict[str, Any], which: str) -> Point:
    ranks, nodes = int(row["ranks"]), int(row["nodes"])
    if nodes < 1 or ranks < nodes or ranks % nodes:
        raise ValueError(f"{ranks} ranks on {nodes} nodes")
    for name, known in (("op", operations()), ("algorithm", algorithms()), ("coding", codings())):
        if row[name] not in known:
            raise ValueError(f"{name}: {row[name]!r} is not known")
    return Point(
        Call(row["op"], int(row["size"]), _dtype_of(row["data"]), nodes, ranks // nodes),
        _figure("link", parse_link_rate(row["link"]), 1, MOST),
        Codec(row["codec"]).spec,
        row["algorithm"],
        row["coding"],
        _figure(which, row[which], 1e-9, MOST_SECONDS),
        _figure("ratio", row["ratio"] or 1, 1e-6, MOST),
        _figure("burst_bytes", row.get("burst_bytes") or 0, 0, MOST),
        _figure("encode_seconds", row.get("encode_seconds") or 0, 0, MOST_SECONDS),
        _figure("decode_seconds", row.get("decode_seconds") or 0, 0, MOST_SECONDS),
    )


def _figure(name: str, value: Any, least: float, most: float) -> float:
    """ValueError for what is no number, or none between these."""
    number = float(value)
    if not least <= number <= most:
        raise ValueError(f"{name}: {number} is not between {least:g} and {most:g}")
    return number


def _dtype_of(name: str) -> str:
    suffix = str(name).rpartition(".")[2]
    return suffix if suffix in ("f32", "f64", "f16", "bf16") else "f32"


def halves(points: list[Point]) -> tuple[list[Point], list[Point]]:
    """Half of the points, by chance, and the others."""
    mixed = list(points)
    random.Random(SEED).shuffle(mixed)
    middle = (len(mixed) + 1) // 2
    return mixed[:middle], mixed[middle:]


@dataclass(frozen=True)
class Repeats:
    """How the machine repeats its own rows: `pairs` that were measured twice, the share of which
    `near` says that the second was as near to the first as a prediction should be. `bound` is the
    share that whoever knew each row's true time would come so near: measured times then are off by
    the spread of one row, not of two, which is less by the root of two if errors are as of a bell
    curve."""

    pairs: int
    near: float
    bound: float


def repeats(points: list[Point], again: list[Point]) -> Repeats:
    """Compares rows of the same calls, each of which both have once. ValueError if none are."""

    def key(point: Point) -> tuple[Any, ...]:
        return point.call, point.link, point.codec, point.algorithm, point.coding

    second = {key(point): point.seconds for point in again}
    ratios = [second[key(each)] / each.seconds for each in points if key(each) in second]
    if not ratios:
        raise ValueError("no row was measured twice")
    near = sum(abs(ratio - 1) <= NEAR for ratio in ratios)
    apart = [abs(math.log(ratio)) / math.sqrt(2) for ratio in ratios]
    bound = sum(each <= math.log(1 + NEAR) for each in apart)
    return Repeats(len(ratios), near / len(ratios), bound / len(ratios))


@cache
def _piece(point: Point) -> int:
    """As the program planned it, which was told no rate (`--trust`)."""
    plan = plan_collective(
        Codec(point.codec),
        PlanSettings(0, True, None, None),
        point.call.operation,
        point.call.dtype,
        point.call.all_bytes,
        ranks=point.call.ranks,
        nodes=point.call.nodes,
    )
    return plan.piece_bytes


def predict(point: Point, machine: Machine) -> float:
    """Seconds of the point's schedule on the machine."""
    codec, cost = None, None
    if point.is_coded:
        codec = Codec(point.codec)
        encode, decode = machine.costs[point.codec]
        cost = CodecCost(encode, decode, point.ratio)
    return run(
        point.call,
        replace(machine, link=point.link, burst=point.burst),
        codec,
        cost,
        algorithm=point.algorithm,
        coding=point.coding,
        piece_bytes=_piece(point),
    ).seconds
