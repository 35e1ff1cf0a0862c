"""Traces of made-up jobs, as the ranks would have written them."""

import json
from pathlib import Path
from typing import Any

ZEROS = {
    "below_threshold": 0,
    "decoded": 0,
    "decode_nanoseconds": 0,
    "damaged": 0,
    "without_memory": 0,
    "device_failures": 0,
    "pool_bytes": 1 << 20,
    "pool_peak_bytes": 3 << 20,
}
TOTALS: dict[str, Any] = {
    "codec": "mpc",
    "messages": 30,
    "compressed_messages": 20,
    "bytes": 3000000,
    "wire_bytes": 1600000,
    "compressed_bytes": 2000000,
    "compressed_wire_bytes": 600000,
    "encode_seconds": 0.02,
    "decode_seconds": 0.01,
    "raw_by_reason": {"data declined by the codec": 10},
    "collectives": {
        "compressed": 2,
        "bytes": 500000,
        "wire_bytes": 100000,
        "seconds": 0.25,
        "predicted_seconds": 0.2,
        "native_calls": 3,
        "native_by_reason": {"datatype not taken by the codec": 3},
        "native_bytes": 300000,
        "native_bytes_by_reason": {"datatype not taken by the codec": 300000},
    },
}


def head(rank: int, ranks: int, node: str, **more: Any) -> dict[str, Any]:
    return {
        "thinwire_trace": 2,
        "version": "0.1.0",
        "format": 0,
        "rank": rank,
        "ranks": ranks,
        "node": node,
        "pid": 1000 + rank,
        "started": 1790000000.25 + 0.01 * rank,
        "mpi": "An MPI with a rather long name of its version, built on some day of the year",
        "threads": False,
        "processor": "A processor",
        "processors": 8,
        "codec": "mpc",
        "threshold": 65536,
        "settings": {
            "THINWIRE_CODEC": "mpc",
            "THINWIRE_FORCE": "1",
            "THINWIRE_TRACE": "/some/long/path/" + 12 * "folder/",
        },
    } | more


def steps_of_bin(at: int) -> dict[str, int]:
    """At first a part of a step is taken for one; then steps are raw, at last compressed."""
    if at == 0:
        return made_steps(1, 0, 4, 5)
    return made_steps(9, 0, 5, 50) if at < 4 else made_steps(9, 8, 0, 30)


def made_steps(calls: int, compressed: int, raw: int, milliseconds: int) -> dict[str, int]:
    return {
        "calls": calls,
        "compressed": compressed,
        "compressed_nanoseconds": compressed * milliseconds * 1_000_000,
        "raw": raw,
        "raw_nanoseconds": raw * milliseconds * 1_000_000,
    }


def rank_lines(rank: int, ranks: int, node: str, bins: int = 12) -> list[dict[str, Any]]:
    """Of a rank that sends to the next two."""
    name = "a communicator of a <b>long</b> name & more of it, as programs have them"
    cells: list[dict[str, Any]] = [
        {
            "cell": at,
            "operation": "send",
            "communicator": name,
            "place": "other node",
            "peer": (rank + 1 + at) % ranks,
            "codec": "szp:abs=0.0001",
        }
        for at in range(2)
    ]
    cells[1]["raw"] = "data declined by the codec"
    cells += [
        {"cell": 2, "operation": "MPI_Allreduce", "communicator": "", "codec": "szp:abs=0.0001"},
        {
            "cell": 3,
            "operation": "MPI_Bcast",
            "communicator": name,
            "raw": "datatype not taken by the codec",
        },
    ]
    lines = [head(rank, ranks, node), *cells]
    for at in range(bins):
        rows = [
            [
                0,
                20,
                2000000 * (at + 1),
                600000,
                18000000,
                20000000,
                [[16, 20]],
                [[19, 18], [20, 2]],
                [[19, 20]],
                90000000,
                50000000,
            ],
            [1, 10, 1000000, 1000000, 0, 0, [[16, 10]], [], [], 30000000, 31000000],
            [
                2,
                2,
                500000,
                100000,
                200000000,
                250000000,
                [[17, 2]],
                [[27, 2]],
                [[26, 2]],
                400000000,
                250000000,
            ],
            [3, 3, 300000, 300000, 0, 0, [[16, 3]], [], [], 0, 0],
        ]
        made = {"from": at / 4, "to": (at + 1) / 4, **ZEROS, "decoded": 20, "cells": rows}
        lines.append({**made, "steps": steps_of_bin(at)})
    return [*lines, {"end": bins / 4, "whole": True, "totals": TOTALS}]


def write_job(folder: Path, ranks: int, nodes: int) -> Path:
    """Files of all ranks; what they are called without their ends."""
    for rank in range(ranks):
        lines = rank_lines(rank, ranks, f"node-{rank * nodes // ranks:03d}.cluster.example.org")
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"job.rank{rank}").write_text(text)
    return folder / "job"
