"""Whether transfers of one kind of array are faster compressed: as timed, not as predicted.

In timing rounds transfers take turns, compressed and raw; what was faster holds for the following
ones, and is timed again later (`thinwire.choose`). This file has no clock and no thread:
transfers.py drives it.
"""

import logging
import threading
from dataclasses import dataclass

from thinwire.choose import Chooser, Turn
from thinwire.dask import counters
from thinwire.dask.counters import SLOWER

EACH_WAY = 4  # transfers of each way in a timing round
UNIT = float(1 << 30)  # bytes whose seconds the rule is told: it counts nanoseconds

_log = logging.getLogger("thinwire.dask")


@dataclass(frozen=True)
class Paces:
    """Seconds a byte of the arrays, of compressed and of raw transfers."""

    compressed: float
    plain: float


@dataclass(frozen=True)
class Seat:
    """One transfer, as its guard sees it. `in_round`: of a timing round; `timed`: what it takes
    counts; `alone`: none of the other way was on its way when it began, of which there had been
    `others` by then."""

    compressed: bool
    in_round: bool
    timed: bool
    alone: bool
    others: int


class Guard:
    """Of one kind of arrays. Thread-safe."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._chooser = Chooser(free_timing=True, calls=EACH_WAY)
        # The next transfer's, and in a timing round that of all until one of them counts.
        self._turn: Turn | None = None
        self._times_round = False  # the last timed turn was of a timing round
        self._open = {True: 0, False: 0}  # transfers on their way, and all there were
        self._begun = {True: 0, False: 0}
        self._expected: Paces | None = None
        self._link = self._link_expected = 0.0

    def why_plain(self, is_new: bool, link: float) -> str:
        """SLOWER, if an array need not be looked at. `is_new`: it is its transfer's first of this
        kind."""
        with self._lock:
            self._link = link
            if self._turn is None:
                if self._chooser.compresses or not self._chooser.rounds:
                    return ""
                if not is_new:
                    return SLOWER
                turn = self._next()
                self._turn = turn if turn.in_round or turn.compressed else None
            return SLOWER if self._turn is None else ""

    def take(self, other: bool | None, expected: Paces | None) -> Seat:
        """For a transfer that is expected to gain. `other`: which way another guard, which times
        this transfer, has already taken for all of it."""
        with self._lock:
            if expected is not None:
                self._expected, self._link_expected = expected, self._link
            turn = self._turn or self._next()
            self._turn = turn if turn.in_round else None
            way = turn.compressed if other is None or not turn.in_round else other
            seat = Seat(
                way, turn.in_round, turn.timed, not self._open[not way], self._begun[not way]
            )
            self._open[way] += 1
            self._begun[way] += 1
            return seat

    def leave(self, seat: Seat, pace: float | None) -> None:
        """A transfer is over: seconds a byte, None if it failed."""
        with self._lock:
            way = seat.compressed
            self._open[way] -= 1
            mixed = not seat.alone or self._begun[not way] != seat.others
            if pace is None or mixed or not seat.timed or seat.in_round != self._times_round:
                return
            if seat.in_round:
                if self._turn is None or way != self._turn.compressed:
                    return
                self._turn = None
            self._chooser.took(way, pace * UNIT)
            self._adopt()

    def _next(self) -> Turn:
        """Where the link has become another one since, the prediction moves with it."""
        self._adopt()
        plain = compressed = 1.0
        if self._expected is not None:
            moved = self._link_expected / self._link if self._link > 0 else 1.0
            plain, compressed = self._expected.plain * moved, self._expected.compressed
        turn = self._chooser.next(plain, compressed)
        if turn.timed:
            self._times_round = turn.in_round
        return turn

    def _adopt(self) -> None:
        """Who decides alone agrees with himself."""
        if not self._chooser.due:
            return
        before, own = self._chooser.rounds, self._chooser.own()
        self._chooser.adopt(own)
        if self._chooser.rounds > before:
            self._tell(Paces(own[1] / 1e9 / UNIT, own[0] / 1e9 / UNIT))

    def _tell(self, timed: Paces) -> None:
        faster = "compressed" if self._chooser.compresses else "plain"
        rates = {}
        if timed.compressed and timed.plain:
            rates = {"timed_rate": 1 / timed.compressed, "timed_plain_rate": 1 / timed.plain}
        if self._expected is not None:
            rates["predicted_rate"] = 1 / self._expected.compressed
            rates["predicted_plain_rate"] = 1 / self._expected.plain
        counters.of_class(self.name, faster=faster, **rates)
        told = ", ".join(f"{name} {rate / 1e6:.4g}" for name, rate in rates.items())
        _log.info("%s: %s from here on (MB/s: %s)", self.name, faster, told)


_guards: dict[str, Guard] = {}
_making = threading.Lock()


def guard_of(name: str) -> Guard:
    """Of a kind of arrays, by the name that its counters have."""
    with _making:
        if name not in _guards:
            _guards[name] = Guard(name)
        return _guards[name]
