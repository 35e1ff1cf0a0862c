"""What a collective did."""

from dataclasses import dataclass
from typing import Any

from thinwire.comm.operation_names import algorithms, codings, name_of
from thinwire.library import library, text


@dataclass(frozen=True)
class CollectiveReport:
    """What one collective did on this rank; from `plan()`, what is known beforehand.

    `why_raw` is empty if the call was compressed, else the reason why it was not. This rank sent
    `raw_bytes` before encoding as `wire_bytes`, in `packets`; `raw_packets` of them were not
    compressed, counted in `raw_packets_by_reason`. `predicted_seconds` and `predicted_raw_seconds`
    are 0 if no link is stated. `bound` is the largest difference from the exact result that
    compression can cause, 0 if the codec states none; `max_error` the largest that was found, with
    `verify=True` only. `workspace_bytes` is the scratch memory in use during the call.
    `delta_packets` is how many this rank coded against a result of an earlier call, of
    `delta_bytes` before and `delta_wire_bytes` after; earlier results take `reference_bytes` now,
    and are `reference_results`.
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
    delta_packets: int
    delta_bytes: int
    delta_wire_bytes: int
    reference_bytes: int
    reference_results: int

    @property
    def compressed(self) -> bool:
        return not self.why_raw

    @property
    def ratio(self) -> float:
        """`raw_bytes` / `wire_bytes`; 1 if this rank sent nothing."""
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
        delta_packets=struct.delta_packets,
        delta_bytes=struct.delta_bytes,
        delta_wire_bytes=struct.delta_wire_bytes,
        reference_bytes=struct.reference_bytes,
        reference_results=struct.reference_results,
    )
