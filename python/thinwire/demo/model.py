"""What the demo may claim: pure formulas, no clock, no processes.

The program exchanges halos and gathers slabs without overlapping them with arithmetic, so a run
lasts as long as its arithmetic and its MPI calls, which include what compression takes. No
compression can do more than make the calls take no time: `speedup_limit` is that.

With two ranks on two hosts a full-duplex link has one direction per rank. Halos travel both ways at
once and cost the time of one direction; the gather travels from rank 1 to rank 0 alone and adds to
that direction. What the link must carry one after another is therefore ``S``, the bytes sent by the
rank that sends most, and not the sum over both ranks. ``link_share`` says how far ``S / B``
explains the measured time of the calls. Near 1 the link decides. Far below 1 something else does,
as waiting for the other rank or copies inside the MPI.

The lab's links are token buckets. A bucket refills while the program computes, so a message may
find one burst of free tokens, and small messages gain more from it than large ones: compressed runs
are flattered more than raw ones. `speedup_without_bursts` bounds that.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class RawRun:
    """The run without compression: seconds of the time loop, seconds inside MPI calls, and bytes
    sent by the rank that sends most."""

    seconds: float
    comm_seconds: float
    bytes_one_way: int


def speedup_limit(raw: RawRun, runs: Iterable[tuple[float, float]]) -> float:
    """The speed-up if messages took no time: what was left is the least arithmetic of all `runs`,
    each the seconds of its loop and of its MPI calls. None of these runs can pass it."""
    return raw.seconds / min(seconds - comm_seconds for seconds, comm_seconds in runs)


def compression_ratio(raw_bytes: int, wire_bytes: int) -> float:
    """Uncompressed over transferred bytes; 1 where nothing was sent."""
    return raw_bytes / wire_bytes if wire_bytes else 1.0


def link_share(raw: RawRun, link_rate: float) -> float:
    """The part of the raw run's communication time that its bytes at the link's rate explain."""
    return raw.bytes_one_way / link_rate / raw.comm_seconds if raw.comm_seconds else 0.0


def speedup_without_bursts(
    raw: RawRun, seconds: float, messages_one_way: int, burst_bytes: int, link_rate: float
) -> float:
    """A lower bound of the speed-up on a link without a token bucket: every message of the run pays
    for a whole burst at the link's rate, while the raw run keeps what bursts saved it."""
    return raw.seconds / (seconds + messages_one_way * burst_bytes / link_rate)
