"""What the hooks did, by group and operation."""

import threading
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field

from thinwire.comm import CollectiveReport


@dataclass
class OperationStats:
    """Calls of one operation on one group, on this rank, since the start or the last reset.

    `bytes` counts the arrays of all calls, uncompressed. Of compressed calls, `sent_bytes` counts
    what this rank sent before encoding and `wire_bytes` what it sent then. `raw` counts the calls
    that were torch's own, by reason, `codecs` the others, by codec. `raw_packets` counts parts of
    compressed calls that went raw, by reason.
    """

    calls: int = 0
    compressed: int = 0
    bytes: int = 0
    sent_bytes: int = 0
    wire_bytes: int = 0
    seconds: float = 0.0
    raw: Counter[str] = field(default_factory=Counter)
    codecs: Counter[str] = field(default_factory=Counter)
    raw_packets: Counter[str] = field(default_factory=Counter)

    @property
    def ratio(self) -> float:
        """`sent_bytes` / `wire_bytes`; 1 if nothing was compressed."""
        return self.sent_bytes / self.wire_bytes if self.wire_bytes else 1.0


_lock = threading.Lock()
_stats: dict[tuple[str, str], OperationStats] = {}


def stats(*, reset: bool = False) -> dict[str, dict[str, OperationStats]]:
    """By group, then by operation, as in stats()["dp"]["allreduce"].ratio. A snapshot: calls that
    are under way are not in it. `reset` begins anew."""
    found: dict[str, dict[str, OperationStats]] = {}
    with _lock:
        for (group, operation), row in _stats.items():
            found.setdefault(group, {})[operation] = deepcopy(row)
        if reset:
            _stats.clear()
    return found


def count_raw(group: str, operation: str, nbytes: int, reason: str) -> None:
    with _lock:
        row = _row(group, operation)
        row.calls += 1
        row.bytes += nbytes
        row.raw[reason] += 1


def count_compressed(
    group: str, operation: str, nbytes: int, codec: str, report: CollectiveReport
) -> None:
    with _lock:
        row = _row(group, operation)
        row.calls += 1
        row.compressed += 1
        row.bytes += nbytes
        row.sent_bytes += report.raw_bytes
        row.wire_bytes += report.wire_bytes
        row.seconds += report.seconds
        row.codecs[codec] += 1
        row.raw_packets.update(report.raw_packets_by_reason)


def _row(group: str, operation: str) -> OperationStats:
    return _stats.setdefault((group, operation), OperationStats())
