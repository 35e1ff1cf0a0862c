"""Which way the next sync of a model goes: its changes, or torch's broadcast of all of it."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from thinwire.torch.weights.report import SyncReport

# Smaller models go in milliseconds either way.
LEAST_BYTES = 16 << 20
# A broadcast hardly takes less than this share of a full sync without its first bucket, which waits
# for what is made once: it is tried late then. The same of another broadcast.
_LEAST_SHARE = 0.4
_LATE = 8
# Syncs after which the slower way is tried again, twice as many each time.
_FIRST_WAIT = 16
_MOST_WAIT = 1024
# After so many full syncs in a row they count as the way that changes go.
_ALWAYS_FULL = 3
# As many that the first one's last bytes, which are still under way, hardly count.
_MANY_BUCKETS = 4
_KEPT = 3  # times of each way, the least of which counts


class Clock:
    """Since when a sync goes on, and since when its first bucket is through."""

    def __init__(self) -> None:
        self.began = self.after_first = time.perf_counter()

    def passed(self, bucket: int) -> None:
        if bucket == 0:
            self.after_first = time.perf_counter()


@dataclass
class Choice:
    """The source's, for one model. Times are seconds, from the first bucket on until all ranks are
    done."""

    changes: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    broadcast: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    full: float = 0.0  # of a full sync, all buckets at the pace of those after the first
    _left: int = _FIRST_WAIT  # syncs until the slower way is tried again
    _wait: int = _FIRST_WAIT
    _tries_changes: bool = False  # after broadcasts: a full sync, then one that counts
    _fulls: int = 0  # in a row

    def why_broadcast(self) -> str:
        """Why the next sync should be a broadcast; empty if it should not. Asked once a sync."""
        if len(self.changes) < 2 or self._tries_changes:
            return ""
        ours = min(self.changes)
        if not self.broadcast:
            is_late = ours < _LEAST_SHARE * self.full and self._left > -_LATE * _FIRST_WAIT
            if is_late:
                return ""
            self._left = self._wait
            return f"to compare it with {ours:.4f} s"
        theirs = min(self.broadcast)
        if self._left > 0:
            return f"{theirs:.4f} s instead of {ours:.4f} s" if theirs < ours else ""
        if ours < _LEAST_SHARE * theirs and self._left > -_LATE * self._wait:
            return ""
        self._left = self._wait = min(2 * self._wait, _MOST_WAIT)
        self._tries_changes = theirs < ours
        if self._tries_changes:
            return ""
        self.broadcast.clear()  # what one of them took long ago says little
        return f"to compare it with {ours:.4f} s"

    @contextmanager
    def timed(self, report: SyncReport, buckets: list[int]) -> Iterator[Clock]:
        """Takes the time of the sync within, of buckets of so many bytes, if it does not fail."""
        clock = Clock()
        yield clock
        now = time.perf_counter()
        self._left -= 1
        self._fulls = self._fulls + 1 if report.why_full else 0
        if report.way == "broadcast":
            self.broadcast.append(now - clock.began)
        elif self._fulls == 0 or self._fulls > _ALWAYS_FULL:
            self._tries_changes = False
            self.changes.append(now - clock.began)
        if report.why_full and len(buckets) >= _MANY_BUCKETS:
            seconds = (now - clock.after_first) * sum(buckets) / sum(buckets[1:])
            self.full = min(self.full or seconds, seconds)
