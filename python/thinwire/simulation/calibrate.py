"""A machine fitted to what was measured on it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from thinwire.simulation.machine import Machine
from thinwire.simulation.points import Point, halves, predict

# As near to the measured time as a prediction should be.
NEAR = 0.15
# Values that are fitted, with the one that the search begins at, and between which it stays.
FITTED = {
    "link_share": (0.95, 0.3, 1.05),
    "latency": (100e-6, 1e-6, 50e-3),
    "message": (10e-6, 1e-7, 5e-3),
    "stack": (2e9, 1e8, 1e11),
    "copy": (3e9, 1e8, 1e11),
    "coding": (10e-6, 1e-7, 5e-3),
    "call": (100e-6, 1e-6, 50e-3),
}
FIRST_RATE, LEAST_RATE, MOST_RATE = 1e9, 2e7, 2e10  # of codecs
# The search multiplies and divides one value after the other, by less and less.
STEPS = (4.0, 2.0, 1.5, 1.25, 1.12, 1.06, 1.03)
ROUNDS = 8


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


Values = dict[str, float]


def calibrate(points: list[Point], *, cores: int, one_machine: bool, threads: int = 1) -> Fit:
    """Fits rates and times to half of the points, and looks how near the others come. `cores` is
    what the nodes have, or all of them together."""
    own, others = halves(points)
    first = Machine(
        points[0].link, cores=cores, threads=threads, one_machine=one_machine, inside=5e9
    )
    specs = sorted({point.codec for point in points if point.is_coded})
    values = {name: value for name, (value, _, _) in FITTED.items()}
    values |= {f"{end} {spec}": FIRST_RATE for spec in specs for end in ("encode", "decode")}
    machine = _machine_of(
        first, _search(values, lambda now: _badness(own, _machine_of(first, now)))
    )
    errors = [predict(point, machine) / point.seconds - 1 for point in others]
    of_own = [predict(point, machine) / point.seconds - 1 for point in own]
    return Fit(machine, own, others, errors, _near(errors), _near(of_own))


def _near(errors: list[float]) -> float:
    return sum(abs(error) <= NEAR for error in errors) / max(1, len(errors))


def _machine_of(first: Machine, values: Values) -> Machine:
    costs = {
        name.removeprefix("encode "): (rate, values["decode " + name.removeprefix("encode ")])
        for name, rate in values.items()
        if name.startswith("encode ")
    }
    own = {name: values[name] for name in FITTED}
    return replace(first, costs=costs, **own)  # type: ignore[arg-type]


def _badness(points: list[Point], machine: Machine) -> float:
    """The mean of what predictions are off by, in logarithms, so that twice and half count alike;
    not of the squares, as single measurements may be wrong altogether."""
    off = [abs(math.log(predict(point, machine) / point.seconds)) for point in points]
    return sum(off) / len(off)


def _bounds(name: str) -> tuple[float, float]:
    return FITTED[name][1:] if name in FITTED else (LEAST_RATE, MOST_RATE)


def _search(values: Values, badness: Callable[[Values], float]) -> Values:
    best = badness(values)
    for step in STEPS:
        for _ in range(ROUNDS):
            before = best
            for name in values:
                values, best = _move(values, name, step, best, badness)
            if best > before * 0.998:
                break
    return values


def _move(
    values: Values, name: str, step: float, best: float, badness: Callable[[Values], float]
) -> tuple[Values, float]:
    """One value, up or down as long as that helps."""
    low, high = _bounds(name)
    for factor in (step, 1 / step):
        moved = False
        while True:
            value = min(max(values[name] * factor, low), high)
            asked = values | {name: value}
            found = badness(asked) if value != values[name] else best
            if found >= best:
                break
            values, best, moved = asked, found, True
        if moved:
            break
    return values, best
