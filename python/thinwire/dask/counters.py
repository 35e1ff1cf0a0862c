"""What this process did with the arrays that it sent to, and got from, other processes."""

import threading
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from thinwire.dask.link import watch

# Why transfers that are timed go raw (guard.py).
TIMED = "being timed, plain and compressed"
SLOWER = "faster plain, as timed"


@dataclass
class ClassStats:
    """Arrays of one codec, element type and octave of size. Rates are in bytes of the array per
    second, seconds are of the last array that was weighed; None if nothing is known yet."""

    compressed: int = 0
    plain: int = 0
    ratio: float | None = None
    needed_ratio: float | None = None
    encode_rate: float | None = None
    decode_rate: float | None = None
    predicted_plain_seconds: float | None = None
    predicted_seconds: float | None = None
    measured_encode_seconds: float | None = None
    faster: str = ""  # "compressed" or "plain", as transfers were timed; "" before that
    timed_rate: float | None = None  # from the begin of encoding to the receiver's word
    timed_plain_rate: float | None = None
    predicted_rate: float | None = None  # for the same transfers
    predicted_plain_rate: float | None = None
    why_plain: str = ""  # of the last that was; "" if the last was compressed


@dataclass
class DaskStats:
    """Since the process started, or the last reset. `bytes` are those of all arrays that were sent
    to other processes, `compressed_bytes` of the compressed ones and `wire_bytes` what these
    became. `plain_by_reason` counts the others. `damaged` counts arrays that came damaged, which
    Dask then asks for again. `link_rate` is what was observed, in bytes per second, None if it
    is not known."""

    arrays: int = 0
    compressed: int = 0
    bytes: int = 0
    compressed_bytes: int = 0
    wire_bytes: int = 0
    encode_seconds: float = 0.0
    decoded: int = 0
    decode_seconds: float = 0.0
    damaged: int = 0
    plain_by_reason: Counter[str] = field(default_factory=Counter)
    codecs: Counter[str] = field(default_factory=Counter)
    link_rate: float | None = None
    classes: dict[str, ClassStats] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Of the compressed arrays; 1 if there are none."""
        return self.compressed_bytes / self.wire_bytes if self.wire_bytes else 1.0


_lock = threading.Lock()
_stats = DaskStats()


def stats(*, reset: bool = False) -> DaskStats:
    """The counters of this process: `client.run(thinwire.dask.stats)` has those of all workers.
    `reset` begins anew, what was learned of codecs and link stays."""
    global _stats
    with _lock:
        found = deepcopy(_stats)
        if reset:
            _stats = DaskStats(classes={name: _kept(row) for name, row in _stats.classes.items()})
    found.link_rate = watch.network.rate
    return found


def _kept(row: ClassStats) -> ClassStats:
    """What transfers were timed at, which holds until they are timed again."""
    timed = ("faster", "timed_rate", "timed_plain_rate", "predicted_rate", "predicted_plain_rate")
    return ClassStats(**{name: getattr(row, name) for name in timed})


def of_class(name: str, **known: Any) -> None:
    """Sets fields of a class."""
    with _lock:
        row = _stats.classes.setdefault(name, ClassStats())
        for key, value in known.items():
            setattr(row, key, value)


def count_plain(nbytes: int, reason: str, name: str = "") -> None:
    with _lock:
        _stats.arrays += 1
        _stats.bytes += nbytes
        _stats.plain_by_reason[reason] += 1
        if name:
            row = _stats.classes.setdefault(name, ClassStats())
            row.plain += 1
            row.why_plain = reason


def count_compressed(nbytes: int, wire: int, spec: str, seconds: float, name: str) -> None:
    with _lock:
        _stats.arrays += 1
        _stats.compressed += 1
        _stats.bytes += nbytes
        _stats.compressed_bytes += nbytes
        _stats.wire_bytes += wire
        _stats.encode_seconds += seconds
        _stats.codecs[spec] += 1
        row = _stats.classes.setdefault(name, ClassStats())
        row.compressed += 1
        row.why_plain = ""
        row.measured_encode_seconds = seconds


def count_damaged() -> None:
    with _lock:
        _stats.damaged += 1


def count_decoded(seconds: float) -> None:
    with _lock:
        _stats.decoded += 1
        _stats.decode_seconds += seconds


def metrics() -> dict[str, Any]:
    """Functions for `Worker.metrics`, which Dask's dashboard shows beside each worker."""

    def of(name: str) -> Any:
        return lambda worker: getattr(stats(), name)

    return {
        "thinwire_arrays": of("compressed"),
        "thinwire_bytes": of("compressed_bytes"),
        "thinwire_wire_bytes": of("wire_bytes"),
        "thinwire_ratio": lambda worker: round(stats().ratio, 3),
        "thinwire_faster_plain": lambda worker: stats().plain_by_reason[SLOWER],
        "thinwire_timed_gain": lambda worker: _gain("timed"),
        "thinwire_predicted_gain": lambda worker: _gain("predicted"),
    }


def _gain(which: str) -> float:
    """Plain over compressed time, the mean of classes whose transfers were timed; 0 without any."""
    with _lock:
        rows = [row for row in _stats.classes.values() if row.faster]
    found = [
        compressed / plain
        for row in rows
        if (compressed := getattr(row, f"{which}_rate"))
        and (plain := getattr(row, f"{which}_plain_rate"))
    ]
    return round(sum(found) / len(found), 3) if found else 0.0
