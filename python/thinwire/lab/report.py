"""What a figure taken in a lab has to state about the links beneath it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LabReport:
    """The links of a lab after a run.

    `burst_bytes` is what a token bucket lets through at full speed after a pause (0: unshaped),
    `drops` counts the packets lost since the lab was entered, and `raw_bits_per_second` is the
    payload rate that a plain TCP transfer reached (None: not measured). Figures taken while
    `drops` is not 0 are void.
    """

    hosts: int
    link: str
    burst_bytes: int
    drops: int
    raw_bits_per_second: float | None = None
