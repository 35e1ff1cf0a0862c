"""What became of a collective."""

from dataclasses import dataclass
from typing import Any

from thinwire.comm.words import algorithms, codings, name_of
from thinwire.library import library, text


@dataclass(frozen=True)
class CollectiveReport:
    """One collective, as this rank saw it; of a plan, what can be told beforehand.

    `why_raw` is empty where packets were coded, else the reason why everything went as it was.
    `raw_bytes` are those of what this rank sent before coding, `wire_bytes` as they travelled, in
    `packets`, of which `raw_packets` went uncoded; `raw_packets_by_reason` says why, and how many
    each. `predicted_seconds` and `predicted_raw_seconds` are 0 where no link is stated. `bound` is
    the largest difference from the exact result that coding can make, 0 where the codec states
    none; `max_error` is the largest that was found, under `verify=True` alone.
    """

    why_raw: str
    algorithm: str
    coding: str
    raw_bytes: int
    wire_bytes: int
    packets: int
    raw_packets: int
    raw_packets_by_reason: dict[str, int]
    workspace_bytes: int
    seconds: float
    encode_seconds: float
    decode_seconds: float
    predicted_seconds: float
    predicted_raw_seconds: float
    bound: float
    max_error: float

    @property
    def compressed(self) -> bool:
        return not self.why_raw

    @property
    def ratio(self) -> float:
        """Raw over wire bytes of what this rank sent; 1 where it sent nothing."""
        return self.raw_bytes / self.wire_bytes if self.wire_bytes else 1.0


def report_of(struct: Any) -> CollectiveReport:
    """The dataclass of a tw_collective_report."""
    lib = library()
    compressed = struct.reason == lib.TW_COMPRESS
    return CollectiveReport(
        why_raw="" if compressed else text(lib.tw_reason_text(struct.reason)),
        algorithm=name_of(algorithms(), struct.algorithm),
        coding=name_of(codings(), struct.coding),
        raw_bytes=struct.raw_bytes,
        wire_bytes=struct.wire_bytes,
        packets=struct.packets,
        raw_packets=struct.raw_packets,
        raw_packets_by_reason={
            text(lib.tw_reason_text(reason)): count
            for reason, count in enumerate(struct.raw_packets_by_reason)
            if count
        },
        workspace_bytes=struct.workspace_bytes,
        seconds=struct.seconds,
        encode_seconds=struct.encode_seconds,
        decode_seconds=struct.decode_seconds,
        predicted_seconds=struct.predicted_seconds,
        predicted_raw_seconds=struct.predicted_raw_seconds,
        bound=struct.bound,
        max_error=struct.max_error,
    )
