"""What a sync did."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class SyncReport:
    """One sync of weights, on this rank.

    `way` is "changes", or "broadcast": torch's, of all bytes, for the source's reason
    `why_broadcast`. `raw_bytes` is what all tensors take, `sent_bytes` what the source gave for
    each receiver, headers included. `changed` is the share of elements whose bits differ from the
    version before; 1 in a full sync and in a broadcast. `buckets` counts them by kind: "same",
    "gaps8" and "gaps16" (positions and values), "xor", "whole" and "broadcast". `why_full` says why
    nothing of the version before was used, and is empty if it was; `rebased` counts the buckets
    that went whole as a receiver's were changed. `seconds` has those of each stage: "begin",
    "encode" (source), "check" (receivers), "agree", "send" and "apply" (receivers).
    """

    version: int = 0
    raw_bytes: int = 0
    sent_bytes: int = 0
    changed: float = 0.0
    buckets: Counter[str] = field(default_factory=Counter)
    rebased: int = 0
    why_full: str = ""
    way: str = "changes"
    why_broadcast: str = ""
    seconds: Counter[str] = field(default_factory=Counter)

    @property
    def ratio(self) -> float:
        """`raw_bytes` / `sent_bytes`."""
        return self.raw_bytes / self.sent_bytes if self.sent_bytes else 1.0

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - began  # type: ignore[assignment]

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.buckets.items()))
        stages = ", ".join(f"{stage} {took:.3f}" for stage, took in self.seconds.items())
        full = f" (full: {self.why_full})" if self.why_full else ""
        full += f" (broadcast: {self.why_broadcast})" if self.why_broadcast else ""
        return (
            f"version {self.version}{full}: {self.sent_bytes} of {self.raw_bytes} bytes, "
            f"{100 * self.changed:.2f}% changed, buckets {kinds or 'none'}; seconds {stages}"
        )
