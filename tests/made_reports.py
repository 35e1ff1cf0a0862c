"""Reports of made-up jobs, as the preload libraries would have written them."""

import json
from pathlib import Path
from typing import Any

REASON = "data declined by the codec"
POOL = {"idle_bytes": 0, "loaned_bytes": 0, "allocations": 1, "loans": 2, "peak_bytes": 4096}


def mpi_report(**more: Any) -> dict[str, Any]:
    collectives = {
        "compressed": 2,
        "bytes": 500000,
        "wire_bytes": 100000,
        "encode_seconds": 0.25,
        "decode_seconds": 0.5,
        "saved_seconds": -0.125,
        "native_calls": 3,
        "native_by_reason": {"below the threshold": 3},
        "native_bytes": 24,
    }
    made = {
        "codec": "zfp:rate=16",
        "messages": 30,
        "compressed_messages": 20,
        "decoded_messages": 19,
        "damaged_messages": 1,
        "messages_without_memory": 0,
        "bytes": 3000000,
        "wire_bytes": 1600000,
        "compressed_bytes": 2000000,
        "compressed_wire_bytes": 600000,
        "encode_seconds": 0.02,
        "decode_seconds": 0.01,
        "predicted_saved_seconds": 1.5,
        "device_failures": 0,
        "pools": {"host": POOL, "pinned": POOL, "gpu": POOL},
        "collectives": collectives,
        "raw_by_reason": {REASON: 10},
    }
    return {**made, **more}


def nccl_operation(calls: int, reason: str = REASON) -> dict[str, Any]:
    """Half of its calls are compressed."""
    return {
        "calls": calls,
        "compressed_calls": calls // 2,
        "bytes": 1000 * calls,
        "wire_bytes": 700 * calls,
        "compressed_bytes": 500 * calls,
        "compressed_wire_bytes": 200 * calls,
        "frames": calls,
        "spilled_blocks": 1,
        "spilled_blocks_received": 0,
        "raw_by_reason": {reason: calls - calls // 2},
    }


# As a report has it of calls that were timed raw and compressed.
TIMING = {
    "operation": "ReduceScatter",
    "dtype": "f32",
    "least_bytes": 262144,
    "codec": "lorenzo:tuple=1",
    "peer": -1,
    "probations": 2,
    "raw_nanoseconds": 13424239,
    "compressed_nanoseconds": 9581599,
    "raw_mean_nanoseconds": 13466571,
    "compressed_mean_nanoseconds": 9681405,
    "way": "compressed",
}


def nccl_report(
    rank: int, communicators: int = 2, operations: int = 2, timings: int = 0
) -> dict[str, Any]:
    """Operations beyond two are called by numbers."""
    more = {f"Operation{at}": nccl_operation(2) for at in range(2, operations)}
    each = {
        "ranks": 8,
        "rank": rank,
        "name": "",
        "presence": "all 8 ranks have it",
        "operations": {"AllReduce": nccl_operation(10), "Send": nccl_operation(4)} | more,
        "timed": [TIMING] * timings,
        "memory": {"held_bytes": 0, "most_held_bytes": 1 << 20, "free": {}},
    }
    made = {"nccl_version": 22809, "codec": "lossless", "rank": rank}
    return {**made, "communicators": [each] * communicators, "functions_not_seen": []}


def write_job(folder: Path, processes: int, communicators: int = 2) -> Path:
    """Files of all processes of a NCCL job; what they are called without their ends."""
    for rank in range(processes):
        text = json.dumps(nccl_report(rank, communicators)) + "\n"
        (folder / f"job.nccl.rank{rank}").write_text(text)
    return folder / "job"
