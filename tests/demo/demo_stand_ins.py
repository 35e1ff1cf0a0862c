"""Runs that no process made, for tests of what the demo does with runs."""

from typing import Any

import numpy as np

from thinwire.demo.runs import Run


def make_run(codec: str, seconds: float, noise: float = 0.0, **shim: Any) -> Run:
    """A run of a small field with `noise` at one point; `shim` overrides the shim's report."""
    field = np.sin(np.arange(6 * 8 * 8, dtype=np.float32)).reshape(6, 8, 8)
    field[3, 4, 4] += noise
    wave = {
        "seconds": seconds,
        "comm_seconds": 0.8 * seconds,
        "bytes_sent": 2_000_000,
        "busiest_bytes_sent": 1_200_000,
        "busiest_messages_sent": 10,
    }
    if codec in ("none", "off"):
        return Run(codec, wave, None, field)
    report = {
        "compressed_messages": 20,
        "decoded_messages": 20,
        "bytes": 2_000_000,
        "raw_by_reason": {"below the threshold": 2},
        "wire_bytes": 1_000_000 if codec.endswith("16") else 500_000,
    }
    return Run(codec, wave, {**report, **shim}, field)
