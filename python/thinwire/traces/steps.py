"""Steps of a program: runs of calls that a rank repeats, and what they take."""

import math
from collections import defaultdict
from typing import Any

from thinwire.traces import words
from thinwire.traces.read import RankTrace, Steps

MOST_POINTS = 240
WAYS = ("compressed", "raw")


def _of(trace: RankTrace) -> list[tuple[float, Steps]]:
    """A rank's steps with the middle of each bin of them: those of the run of calls that
    most of the time went to, as before it is known a part of it may be taken for one."""
    took: dict[int, int] = defaultdict(int)
    for each in trace.bins:
        if each.steps is not None:
            took[each.steps.calls] += each.steps.nanoseconds
    if not took:
        return []
    calls = max(took, key=lambda calls: (took[calls], calls))
    return [
        ((each.start + each.end) / 2, each.steps)
        for each in trace.bins
        if each.steps is not None and each.steps.calls == calls
    ]


class LongestSteps:
    """Of the rank whose steps last longest together, the first of these."""

    def __init__(self) -> None:
        self._nanoseconds, self._rank, self._until = 0, 0, 0.0
        self._bins: list[tuple[float, Steps]] = []

    def add(self, trace: RankTrace) -> None:
        """Traces come by rank."""
        found = _of(trace)
        took = sum(each.nanoseconds for _, each in found)
        if found and (not self._bins or took > self._nanoseconds):
            self._nanoseconds, self._rank, self._until = took, trace.rank, trace.seconds
            self._bins = found

    def done(self) -> dict[str, Any] | None:
        """None without steps."""
        if not self._bins:
            return None
        return {
            "rank": self._rank,
            "calls": self._bins[0][1].calls,
            "until": self._until,
            **{way: _summary(self._bins, way) for way in WAYS},
            "over_time": _points(self._bins, self._until),
        }


def _counted(each: Steps, way: str) -> tuple[int, int]:
    return getattr(each, way), getattr(each, f"{way}_nanoseconds")


def _summary(bins: list[tuple[float, Steps]], way: str) -> dict[str, Any]:
    """The median is of bins' means, each as often as it has steps: pauses do not move it."""
    means = sorted(
        (took / number, number)
        for _, each in bins
        for number, took in [_counted(each, way)]
        if number
    )
    number = sum(count for _, count in means)
    seen, median = 0, 0.0
    for mean, count in means:
        seen += count
        if 2 * seen >= number:
            median = mean
            break
    total = sum(_counted(each, way)[1] for _, each in bins)
    return {"number": number, "seconds": 1e-9 * total, "median_seconds": 1e-9 * median}


def _points(bins: list[tuple[float, Steps]], until: float) -> list[dict[str, Any]]:
    """How many steps ended in equal parts of the time, and their mean seconds; None for none."""
    length = max(0.25, until / MOST_POINTS)
    points = max(1, math.ceil(until / length))
    sums: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    for middle, each in bins:
        for way in WAYS:
            into = sums[min(int(middle / length), points - 1), way]
            for place, more in enumerate(_counted(each, way)):
                into[place] += more
    return [
        {
            name: value
            for way in WAYS
            for number, took in [sums.get((at, way), (0, 0))]
            for name, value in (
                (way, number),
                (f"{way}_seconds", 1e-9 * took / number if number else None),
            )
        }
        for at in range(points)
    ]


def said(found: dict[str, Any]) -> str:
    """In one sentence."""
    calls = found["calls"]
    parts = [
        f"{words.seconds(of['median_seconds'])} {way} ({words.count(of['number'])})"
        for way in WAYS
        for of in [found[way]]
        if of["number"]
    ]
    return f"A step of {words.count(calls)} {'call' if calls == 1 else 'calls'} took " + (
        f"{' and '.join(parts)}, in the median."
    )
