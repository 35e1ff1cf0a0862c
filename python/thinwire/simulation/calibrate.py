"""A machine fitted to what was measured on it."""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace

from thinwire.simulation.machine import Machine
from thinwire.simulation.points import NEAR, Point, halves, predict

# Values that are fitted, with the one that the search begins at, and between which it stays.
FITTED = {
    "link_share": (0.955, 0.3, 1.05),  # what the headers of TCP over Ethernet leave
    "latency": (30e-6, 1e-6, 50e-3),
    "message": (10e-6, 1e-7, 5e-3),
    "stack": (2e9, 1e8, 1e11),
    "copy": (3e9, 5e8, 1e11),
    "coding": (5e-6, 1e-7, 5e-3),
    "call": (30e-6, 1e-6, 50e-3),
    "pause": (50e-6, 1e-7, 0.1),
    "buffer": (2.0**18, 2.0**15, 2.0**22),
}
# Sizes of messages beyond which the receiver is asked: never, or as Open MPI does over TCP, which
# has 64 KiB with its header.
EAGER = (0.0, 2.0**16 - 64)
FIRST_RATE, LEAST_RATE, MOST_RATE = 1e9, 2e7, 2e10  # of codecs
# A codec's rate is near that which the rows' own ranks measured.
NEAR_MEASURED = 1.3
LEAST_CODED = 1 << 18  # bytes, from which on it says something about the rate
# The search multiplies and divides one value after the other, by less and less.
STEPS = (2.0, 1.5, 1.25, 1.1, 1.05, 1.02)
ROUNDS = 4
# Rows that are off by more count little more: some take twice as long by chance.
SPREAD = 0.2


@dataclass(frozen=True)
class Fit:
    """`near` is the share of the points that were held back whose prediction is within 15% of
    what was measured; `errors` are theirs, predicted over measured less 1, in the order of
    `held_back`. `near_fitted` is the share of those that the machine was fitted to."""

    machine: Machine
    fitted: list[Point]
    held_back: list[Point]
    errors: list[float]
    near: float
    near_fitted: float


@dataclass(frozen=True)
class Searched:
    """A value, and between which numbers it stays."""

    value: float
    least: float
    most: float


Values = dict[str, Searched]


def calibrate(
    points: list[Point], *, cores: int, one_machine: bool, threads: int = 1, swapped: bool = False
) -> Fit:
    """Fits rates and times to half of the points, and looks how near the others come; `swapped`:
    to the other half. `cores` is what the nodes have, or all of them together."""
    own, others = halves(points)
    if swapped:
        own, others = others, own
    first = Machine(
        points[0].link,
        cores=cores,
        threads=threads,
        one_machine=one_machine,
        inside=5e9,
        burst=points[0].burst,
    )
    machine = _search(own, first)
    errors = [predict(point, machine) / point.seconds - 1 for point in others]
    of_own = [predict(point, machine) / point.seconds - 1 for point in own]
    return Fit(machine, own, others, errors, near(errors), near(of_own))


def near(errors: list[float]) -> float:
    """The share that is no further off than NEAR."""
    return sum(abs(error) <= NEAR for error in errors) / max(1, len(errors))


def _search(points: list[Point], first: Machine) -> Machine:
    """Looks with each size of EAGER, and takes the machine that is off least."""
    begin = _begin(points)

    def machine_of(values: Values, eager: float) -> Machine:
        return _machine_of(replace(first, eager=eager), values)

    found = {
        eager: _descend(begin, lambda now, eager=eager: _badness(points, machine_of(now, eager)))  # type: ignore[misc]
        for eager in EAGER
    }
    eager = min(EAGER, key=lambda size: found[size][0])
    return machine_of(found[eager][1], eager)


def _begin(points: list[Point]) -> Values:
    values = {name: Searched(*given) for name, given in FITTED.items()}
    for spec in sorted({point.codec for point in points if point.is_coded}):
        rates = measured_rates([point for point in points if point.codec == spec])
        for end, rate in zip(("encode", "decode"), rates, strict=True):
            values[f"{end} {spec}"] = (
                Searched(FIRST_RATE, LEAST_RATE, MOST_RATE)
                if rate is None
                else Searched(rate, rate / NEAR_MEASURED, rate * NEAR_MEASURED)
            )
    return values


def measured_rates(points: list[Point]) -> tuple[float | None, float | None]:
    """The median rates at which the ranks that coded longest did so, in the operations of which
    is known what a rank codes: all ranks of an Allgather decode their own block as well."""
    found: tuple[list[float], list[float]] = ([], [])
    for point in points:
        ranks = point.call.ranks
        blocks = {"bcast": (1, 1), "allgather": (1, ranks), "alltoall": (ranks - 1, ranks - 1)}
        if point.call.operation not in blocks or point.call.nbytes < LEAST_CODED:
            continue
        taken = point.encode_seconds, point.decode_seconds
        for rates, count, seconds in zip(found, blocks[point.call.operation], taken, strict=True):
            if seconds > 0:
                rates.append(count * point.call.nbytes / seconds)
    encode, decode = (statistics.median(rates) if rates else None for rates in found)
    return encode, decode


def _machine_of(first: Machine, values: Values) -> Machine:
    costs = {
        name.removeprefix("encode "): (
            rate.value,
            values["decode " + name.removeprefix("encode ")].value,
        )
        for name, rate in values.items()
        if name.startswith("encode ")
    }
    own = {name: values[name].value for name in FITTED}
    return replace(first, costs=costs, **own)  # type: ignore[arg-type]


def _badness(points: list[Point], machine: Machine) -> float:
    """The mean of what predictions are off by, in logarithms, so that twice and half count alike;
    squares of small ones, at most 1."""
    off = [math.log(predict(point, machine) / point.seconds) / SPREAD for point in points]
    return sum(each**2 / (each**2 + 1) for each in off) / len(off)


def _descend(values: Values, badness: Callable[[Values], float]) -> tuple[float, Values]:
    best = badness(values)
    for step in STEPS:
        for _ in range(ROUNDS):
            before = best
            for name in values:
                values, best = _move(values, name, step, best, badness)
            if best > before * 0.998:
                break
    return best, values


def _move(
    values: Values, name: str, step: float, best: float, badness: Callable[[Values], float]
) -> tuple[Values, float]:
    """One value, up or down as long as that helps."""
    for factor in (step, 1 / step):
        moved = False
        while True:
            old = values[name]
            new = replace(old, value=min(max(old.value * factor, old.least), old.most))
            asked = values | {name: new}
            found = badness(asked) if new != old else best
            if found >= best:
                break
            values, best, moved = asked, found, True
        if moved:
            break
    return values, best
