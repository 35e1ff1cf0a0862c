"""What Thinwire has done in this process so far, as numbers for a line of figures."""

import ctypes
import json
import os
import sys
from collections import Counter

FIGURES = ("calls", "compressed_calls", "bytes", "wire_bytes")


def counters(preload: bool) -> dict[str, dict[str, float]]:
    """By name: `stats` of thinwire.torch's hooks, or `preload_stats` of the preload library, by
    operation, which counts where a report is asked for (THINWIRE_REPORT)."""
    if preload:
        return {"preload_stats": _of_preload()} if os.environ.get("THINWIRE_REPORT") else {}
    if "thinwire.torch" in sys.modules:
        return {"stats": sys.modules["thinwire.torch"].scalars("")}
    return {}


def calls(preload: bool) -> list[float]:
    """How many so far, and how many of them compressed."""
    return sums(next(iter(counters(preload).values()), {}))


def sums(counted: dict[str, float]) -> list[float]:
    ends = (("/calls",), ("/compressed", "/compressed_calls"))
    return [sum(n for name, n in counted.items() if name.endswith(end)) for end in ends]


def _of_preload() -> dict[str, float]:
    found: Counter[str] = Counter()
    for communicator in json.loads(_report())["communicators"]:
        for operation, row in communicator["operations"].items():
            found.update({f"/{operation}/{name}": row[name] for name in FIGURES})
            reasons = row["raw_by_reason"]
            found.update({f"/{operation}/raw: {why}": calls for why, calls in reasons.items()})
    return dict(found)


def _report() -> bytes:
    program = ctypes.CDLL(None)
    length = ctypes.c_uint64()
    program.tw_nccl_report(None, ctypes.c_uint64(0), ctypes.byref(length))
    # It may grow until the second call.
    text = ctypes.create_string_buffer(length.value + 4096)
    program.tw_nccl_report(text, ctypes.c_uint64(len(text)), ctypes.byref(length))
    return text.value or b'{"communicators": []}'
