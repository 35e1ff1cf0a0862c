"""Whether transfers of one kind of array are faster compressed: as timed, not as predicted.

For a while transfers take turns, compressed and plain; what was faster holds for the following
ones, and is timed again later. This file has no clock and no thread: transfers.py drives it.
"""

import logging
import threading
from collections import deque
from dataclasses import dataclass
from statistics import median

from thinwire.dask import counters
from thinwire.dask.counters import SLOWER

FEWEST, MOST = 4, 8  # transfers of each way: a verdict needs so many, and has no more
CLEAR = 1.5  # so many times the other way's time, all of them, and two transfers of each suffice
HOPELESS = 4.0  # so many times the plain ones' time, and compressing is given up after two
# Parts of the plain ones' time: at most so much to begin compressing, and to go on with it.
TO_BEGIN, TO_GO_ON = 0.95, 1.0
PRICE = 0.01  # of the time, which timing the slower way may cost
LEAST_REST, MOST_REST = 64, 8192  # transfers between two times

_log = logging.getLogger("thinwire.dask")


@dataclass(frozen=True)
class Paces:
    """Seconds a byte of the arrays, of compressed and of plain transfers."""

    compressed: float
    plain: float


@dataclass(frozen=True)
class Seat:
    """One transfer, as its guard sees it. `alone`: none of the other way was on its way when it
    began, of which there had been `others` by then."""

    compressed: bool
    timed: bool
    alone: bool
    others: int


class Guard:
    """Of one class of arrays. Thread-safe."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._compresses = False  # what holds, or held before this timing
        self._open = {True: 0, False: 0}  # transfers on their way, and all there were
        self._begun = {True: 0, False: 0}
        self._expected: Paces | None = None
        self._rest, self._unchanged = 0, 0
        self._link = self._plain_pace = 0.0
        self._begin()

    def _begin(self) -> None:
        self._timing = True
        self._counted: dict[bool, list[float]] = {True: [], False: []}
        self._warm = {True: False, False: False}
        self._lately: deque[float] = deque(maxlen=7)

    def why_plain(self, is_new: bool, link: float) -> str:
        """SLOWER, where an array need not be looked at. `is_new`: it is its transfer's first of
        this class."""
        with self._lock:
            if not self._timing and self._moved(link):
                self._unchanged = 0
                self._begin()
            if self._timing:
                self._link = link
            if self._timing or self._compresses:
                return ""
            self._rest -= is_new
            if self._rest <= 0:
                self._begin()
                return ""
            return SLOWER

    def take(self, other: bool | None, expected: Paces | None) -> Seat:
        """For a transfer that is expected to gain. `other`: which way another guard, which times
        this transfer, has already taken for all of it."""
        with self._lock:
            self._expected = expected
            way = self._compresses
            if self._timing:
                way = self._wanted() if other is None else other
            seat = Seat(way, self._timing, self._open[not way] == 0, self._begun[not way])
            self._open[way] += 1
            self._begun[way] += 1
            return seat

    def leave(self, seat: Seat, pace: float | None) -> None:
        """A transfer is over: seconds a byte, None where it failed."""
        with self._lock:
            way = seat.compressed
            self._open[way] -= 1
            mixed = not seat.alone or self._begun[not way] != seat.others
            if pace is None or mixed or seat.timed != self._timing:
                return
            if self._timing:
                self._count(way, pace)
            else:
                self._watch(pace)

    def _moved(self, link: float) -> bool:
        """By half, in favour of the way that does not hold."""
        return link > 2 * self._link if self._compresses else link < self._link / 2

    def _wanted(self) -> bool:
        """Whose turn it is: each way once uncounted, then in an order in which no period of two or
        four transfers favours one of them (Thue and Morse's)."""
        if not all(self._warm.values()):
            return self._warm[False]
        counted = len(self._counted[True]) + len(self._counted[False])
        return counted.bit_count() % 2 == 1

    def _count(self, way: bool, pace: float) -> None:
        if way != self._wanted():
            return
        if not self._warm[way]:
            self._warm[way] = True
            return
        self._counted[way].append(pace)
        compressed, plain = self._counted[True], self._counted[False]
        if len(compressed) == len(plain) >= 2:
            needed = 1.0 if len(plain) >= FEWEST else CLEAR
            apart = min(compressed) > needed * max(plain) or min(plain) > needed * max(compressed)
            if apart or len(plain) == MOST:
                self._decide()
        elif len(compressed) == 2 and plain and min(compressed) > HOPELESS * max(plain):
            self._decide()

    def _decide(self) -> None:
        compressed, plain = (median(self._counted[way]) for way in (True, False))
        before = self._compresses
        self._compresses = compressed <= (TO_GO_ON if before else TO_BEGIN) * plain
        self._unchanged = self._unchanged + 1 if before == self._compresses else 0
        self._timing = False
        self._plain_pace = plain
        tried = len(self._counted[not self._compresses]) + 1
        ratio = max(compressed, plain) / max(min(compressed, plain), 1e-15)
        rest = max(LEAST_REST << min(self._unchanged, 4), int(tried * (ratio - 1) / PRICE))
        self._rest = min(rest, MOST_REST)
        self._tell(Paces(compressed, plain))

    def _watch(self, pace: float) -> None:
        """Of a compressed transfer while that holds: what has become slower than the plain ones
        were is timed again."""
        self._lately.append(pace)
        self._rest -= 1
        full = len(self._lately) == self._lately.maxlen
        slow = full and median(self._lately) > TO_GO_ON * self._plain_pace
        if self._rest <= 0 or slow:
            self._begin()

    def _tell(self, timed: Paces) -> None:
        faster = "compressed" if self._compresses else "plain"
        rates = {"timed_rate": 1 / timed.compressed, "timed_plain_rate": 1 / timed.plain}
        if self._expected is not None:
            rates["predicted_rate"] = 1 / self._expected.compressed
            rates["predicted_plain_rate"] = 1 / self._expected.plain
        counters.of_class(self.name, faster=faster, **rates)
        told = ", ".join(f"{name} {rate / 1e6:.4g}" for name, rate in rates.items())
        _log.info("%s: %s for %d transfers (MB/s: %s)", self.name, faster, self._rest, told)


_guards: dict[str, Guard] = {}
_making = threading.Lock()


def guard_of(name: str) -> Guard:
    """Of a class of arrays, by the name that its counters have."""
    with _making:
        if name not in _guards:
            _guards[name] = Guard(name)
        return _guards[name]
