"""What the hooks did, and the preload library for NCCL where that is loaded, by group and
operation."""

import threading
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any

from thinwire.comm import CollectiveReport
from thinwire.statistics import nccl_report

UNNAMED = "unnamed"  # what communicators of NCCL that have no name count as
# As policies call them, but for those whose names are NCCL's in lower case.
_OPERATIONS = {"ReduceScatter": "reduce-scatter", "Broadcast": "bcast"}


@dataclass
class OperationStats:
    """Calls of one operation on one group, on this rank, since the start or the last reset.

    `bytes` counts the arrays of all calls, uncompressed. Of compressed calls, `sent_bytes` counts
    what this rank sent before encoding and `wire_bytes` what it sent then. `raw` counts the calls
    that were torch's own, by reason, `codecs` the others, by codec. `raw_packets` counts parts of
    compressed calls that went raw, by reason.

    Of calls of NCCL under the preload library `bytes` is what this rank gave the others, as the
    library's report has it, and `seconds` and `codecs` are not known.
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


Rows = dict[tuple[str, str], OperationStats]  # by group and operation

_lock = threading.Lock()
_stats: Rows = {}
_reset_at: Rows = {}  # what the preload library had counted then: it counts on


def stats(*, reset: bool = False) -> dict[str, dict[str, OperationStats]]:
    """By group, then by operation, as in stats()["dp"]["allreduce"].ratio. A snapshot: calls that
    are under way are not in it. `reset` begins anew.

    Under the preload library for NCCL its calls are in it, too: groups are the communicators'
    names ("unnamed" without), and "send" and "recv" are operations as well."""
    global _reset_at
    counted = rows_of(nccl_report())
    with _lock:
        rows = deepcopy(_stats)
        for key, row in counted.items():
            since = _plus(row, _reset_at.get(key, OperationStats()), -1)
            if since.calls:
                rows[key] = _plus(rows.get(key, OperationStats()), since)
        if reset:
            _stats.clear()
            _reset_at = counted
    found: dict[str, dict[str, OperationStats]] = {}
    for (group, operation), row in rows.items():
        found.setdefault(group, {})[operation] = row
    return found


def rows_of(report: dict[str, Any]) -> Rows:
    """What a report of the preload library for NCCL says, all communicators of a name together."""
    rows: Rows = {}
    for communicator in report.get("communicators", ()):
        for name, said in communicator["operations"].items():
            key = communicator["name"] or UNNAMED, _OPERATIONS.get(name, name.lower())
            spilled = said["spilled_blocks"]
            row = OperationStats(
                calls=said["calls"],
                compressed=said["compressed_calls"],
                bytes=said["bytes"],
                sent_bytes=said["compressed_bytes"],
                wire_bytes=said["compressed_wire_bytes"],
                raw=Counter(said["raw_by_reason"]),
                raw_packets=Counter({"did not fit its slot": spilled} if spilled else {}),
            )
            rows[key] = _plus(rows.get(key, OperationStats()), row)
    return rows


def _plus(one: OperationStats, other: OperationStats, sign: int = 1) -> OperationStats:
    """Of `one` and `sign` times `other`; what is counted is never below zero."""
    made = OperationStats()
    for each in fields(OperationStats):
        ours, theirs = getattr(one, each.name), getattr(other, each.name)
        if isinstance(ours, Counter):
            total: Any = ours + theirs if sign > 0 else ours - theirs
        else:
            total = ours + sign * theirs
        setattr(made, each.name, total)
    return made


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
