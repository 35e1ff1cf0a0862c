"""What a transfer takes: from when a worker begins to encode the arrays that another one has asked
for until that one says that it has them, decoded. Both are in the sender's time.
"""

import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import wraps
from time import perf_counter
from typing import Any

from thinwire.dask.guard import Guard, Paces, Seat

HANDLER = "get_data"


class SharedTime:
    """A clock that goes n times slower while n transfers are on their way, so that each is charged
    its share of the time in which they were. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open, self._last, self._time = 0, 0.0, 0.0

    def enter(self) -> float:
        return self._step(1)

    def leave(self) -> float:
        return self._step(-1)

    def _step(self, more: int) -> float:
        with self._lock:
            now = self._clock()
            if self._open:
                self._time += (now - self._last) / self._open
            self._last = now
            self._open += more
            return self._time


_time = SharedTime()


class Transfer:
    """The answer to one request for data. One thread at a time works on it."""

    def __init__(self, time: SharedTime = _time) -> None:
        self._shared = time
        self._begin: float | None = None
        self._bytes = 0
        self._seats: dict[Guard, Seat] = {}
        self._met: set[Guard] = set()
        self._timed: bool | None = None  # the way of the first guard that times this transfer

    def add(self, nbytes: int) -> None:
        """An array. The first one begins the transfer's time, so that unspilling is not in it."""
        if self._begin is None:
            self._begin = self._shared.enter()
        self._bytes += nbytes

    def why_plain(self, guard: Guard, link: float) -> str:
        """Why an array of the guard's kind goes raw, whatever it is; "" for nothing."""
        is_new = guard not in self._met
        self._met.add(guard)
        return "" if guard in self._seats else guard.why_plain(is_new, link)

    def compresses(self, guard: Guard, expected: Paces | None) -> bool:
        """Whether this transfer's arrays of the guard's kind travel compressed: all or none."""
        if guard not in self._seats:
            seat = self._seats[guard] = guard.take(self._timed, expected)
            if seat.in_round:
                self._timed = seat.compressed
        return self._seats[guard].compressed

    def end(self, whole: bool) -> None:
        """`whole`: the other side has said that it has the data."""
        if self._begin is None:
            return
        seconds = self._shared.leave() - self._begin
        pace = seconds / self._bytes if whole and seconds > 0 and self._bytes else None
        for guard, seat in self._seats.items():
            guard.leave(seat, pace)


_current: ContextVar[Transfer | None] = ContextVar("thinwire_transfer", default=None)


def current() -> Transfer | None:
    """The one for which this thread encodes; None outside a worker's answers."""
    return _current.get()


def watch(worker: Any) -> None:
    """Times the answers of a worker from now on."""
    plain = worker.handlers[HANDLER]
    if not hasattr(plain, "thinwire_plain"):
        worker.handlers[HANDLER] = _timed(plain)


def leave(worker: Any) -> None:
    found = worker.handlers[HANDLER]
    worker.handlers[HANDLER] = getattr(found, "thinwire_plain", found)


def _timed(plain: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(plain)
    async def answer(*words: Any, **named: Any) -> Any:
        transfer, whole = Transfer(), False
        before = _current.set(transfer)  # threads to which distributed offloads have it, too
        try:
            found = await plain(*words, **named)
            whole = True
            return found
        finally:
            _current.reset(before)
            transfer.end(whole)

    answer.thinwire_plain = plain  # type: ignore[attr-defined]
    return answer
