"""Whether the hooks' compressed calls pay on a group: steps are timed with them and without.

A call's own time says little, since calls overlap with each other and with computation. So the
guard times whole steps, as long as all of the group's calls in one take, some with these calls
compressed and some with torch's own, and keeps to what was faster (`thinwire.choose`). What it goes
by is the same on all ranks: how many calls came before, and times that the ranks have exchanged.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from thinwire.choose import Chooser

TIMED = "being timed, raw and compressed"
SLOWER = "faster raw, as timed"

# After how many compressed calls the ranks ask each other how many calls a step has, and what a
# step is taken to have if the last of these finds no optimizer's steps.
ASKED_AFTER, UNKNOWN_STEP = (16, 64, 256), 32
# Steps of each way that are timed. They take turns in an order in which no period of two or four
# steps, as layers that take turns, favours one way.
EACH_WAY = 4

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
        self._calls = 0  # since steps are timed, or at all
        self._ends: list[int] = []  # at which calls a step had ended: the first, and the last
        self._steps_seen = 0  # between these two
        self._last = steps()
        self._per_step = 0.0
        self._step_calls = 0  # 0 while it is not known
        self._chooser = Chooser(once=True, begins_compressed=True, calls=EACH_WAY)
        self._marks: list[Mark] = []  # when steps began
        self._ways: list[bool] = []  # of these: true if compressed
        self._finding: str | None = None

    def why_raw(self, device: Any) -> str:
        """To be asked before each call that is to be compressed, on `device`: why it goes raw;
        empty if it is compressed. At a few calls it waits for the other ranks."""
        if self._finding is not None:
            return self._finding
        if self._step_calls == 0:
            self._watch()
            return ""
        if self._calls % self._step_calls == 0:
            self._marks.append(self._clock.mark(device))
            if self._chooser.due:
                self._finding = self._learn()
                return self._finding
            self._ways.append(self._chooser.next(0.0, 0.0).compressed)
        self._calls += 1
        return "" if self._ways[-1] else TIMED

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
            self._step_calls = max(1, round(found)) if found > 0 else UNKNOWN_STEP
            self._calls = 0

    def _learn(self) -> str:
        """Times are asked for as late as this: a GPU's clock is waited for once."""
        for compressed, (first, last) in zip(self._ways, pairwise(self._marks), strict=True):
            self._chooser.took(compressed, self._clock.seconds(first, last))
        self._marks.clear()
        largest = self._agree(self._chooser.own())
        self._chooser.adopt(largest)
        keeps = self._chooser.compresses
        _log.info(
            "group %s: steps take %.4g s with compressed calls, %.4g s with torch's own: %s",
            *(self._name, largest[1] / 1e9, largest[0] / 1e9),
            "compressed from here on" if keeps else "raw",
        )
        return "" if keeps else SLOWER
