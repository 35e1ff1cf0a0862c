"""Whether the hooks' compressed calls pay on a group: steps are timed with them and without.

A call's own time says little, since calls overlap with each other and with computation. So the
guard times whole steps, as long as all of the group's calls in one take, some with these calls
compressed and some with torch's own, and keeps to what was faster. What it goes by is the same on
all ranks: how many calls came before, and times that the ranks have exchanged.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

TIMED = "being timed, raw and compressed"
SLOWER = "faster raw, as timed"

# After how many compressed calls the ranks ask each other how many calls a step has, and what a
# round has where the last of these finds no optimizer's steps.
ASKED_AFTER, UNKNOWN_STEP = (16, 64, 256), 32
# The rounds that are timed, of the calls of a step each: true where they are compressed. The first
# of either kind is not counted. The others are in an order in which no period of two, four or
# eight rounds, as layers that take turns, favours one kind (Thue and Morse's).
UNCOUNTED = (False, True)
COUNTED = (False, True, True, False, True, False, False, True)
ROUNDS = UNCOUNTED + COUNTED

_log = logging.getLogger("thinwire.torch")


class Steps:
    """How many steps this process' optimizers have made since it was first asked for."""

    def __init__(self) -> None:
        self.made = 0
        register_optimizer_step_post_hook(self._count)

    def _count(self, optimizer: Any, arguments: Any, named: Any) -> None:
        self.made += 1


_steps: list[Steps] = []


def optimizer_steps() -> int:
    if not _steps:
        _steps.append(Steps())
    return _steps[0].made


@dataclass(frozen=True)
class Mark:
    """A moment: of the host, and on a GPU also of the order of its stream's work."""

    time: float
    device: Any
    event: Any = None


class Clock:
    def mark(self, device: Any) -> Mark:
        event = None
        if device.type == "cuda":
            event = torch.cuda.Event(enable_timing=True)
            event.record(torch.cuda.current_stream(device))
        return Mark(time.perf_counter(), device, event)

    def seconds(self, first: Mark, last: Mark) -> float:
        """Waits for the GPU to have come to the second."""
        if first.event is None or last.event is None or first.device != last.device:
            return last.time - first.time
        last.event.synchronize()
        return float(first.event.elapsed_time(last.event)) / 1e3


class Guard:
    """Of one group under one setting. `agree` gives the largest over the ranks of each number, and
    is collective; `steps` counts the optimizers' steps of this rank."""

    def __init__(
        self,
        name: str,
        agree: Callable[[list[float]], list[float]],
        steps: Callable[[], int] = optimizer_steps,
        clock: Clock | None = None,
    ) -> None:
        self._name, self._agree, self._steps = name, agree, steps
        self._clock = clock or Clock()
        self._calls = 0  # since the last that began a round, or at all
        self._ends: list[int] = []  # at which calls a step had ended: the first, and the last
        self._steps_seen = 0  # between these two
        self._last = steps()
        self._per_step = 0.0
        self._round_calls = 0  # 0 while it is not known
        self._marks: list[Mark] = []  # where rounds began
        self._verdict: str | None = None

    def why_raw(self, device: Any) -> str:
        """To be asked before each call that is to be compressed, on `device`: why it goes raw;
        empty where it is compressed. At a few calls it waits for the other ranks."""
        if self._verdict is not None:
            return self._verdict
        if self._round_calls == 0:
            self._watch()
            return ""
        if self._calls % self._round_calls == 0:
            self._marks.append(self._clock.mark(device))
        self._calls += 1
        if len(self._marks) > len(ROUNDS):
            self._verdict = self._decide()
            return self._verdict
        return "" if ROUNDS[len(self._marks) - 1] else TIMED

    def _watch(self) -> None:
        """Counts what a step has; the calls after the one that finds out are timed."""
        made = self._steps()
        if made != self._last:
            # Several with no call between them, as of optimizers in one another, are one.
            self._last = made
            self._steps_seen += len(self._ends) > 0
            self._ends = [*self._ends[:1], self._calls]
        if self._steps_seen:
            self._per_step = (self._ends[-1] - self._ends[0]) / self._steps_seen
        self._calls += 1
        if self._calls not in ASKED_AFTER:
            return
        (found,) = self._agree([self._per_step])
        if found > 0 or self._calls == ASKED_AFTER[-1]:
            self._round_calls = max(1, round(found)) if found > 0 else UNKNOWN_STEP
            self._calls = 0

    def _decide(self) -> str:
        took: dict[bool, list[float]] = {False: [], True: []}
        rounds = pairwise(self._marks[len(UNCOUNTED) :])
        for coded, (first, last) in zip(COUNTED, rounds, strict=True):
            took[coded].append(self._clock.seconds(first, last))
        self._marks.clear()
        raw, coded_time = self._agree([median(took[False]), median(took[True])])
        keeps = coded_time <= raw
        _log.info(
            "group %s: steps take %.4g s with compressed calls, %.4g s with torch's own: %s",
            *(self._name, coded_time, raw, "compressed from here on" if keeps else "raw"),
        )
        return "" if keeps else SLOWER
