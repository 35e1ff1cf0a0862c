"""Compressed sums make NCCL connect ranks, for which it takes memory of the GPU: each rank looks
for room before the ranks agree, and what it finds is told. GPUs are none, but those of
fake_nccl/device_memory.h."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from test_nccl_shim import PROGRAMS, SHIM, without_silence

pytestmark = pytest.mark.multiproc

MIB = 1 << 20
PAIR = 480 * MIB
LEFT = 512 * MIB  # to the program
SHORT = "out of memory"
ENOUGH = 2 * PAIR + LEFT + 64 * MIB


def run(
    folder: Path, words: list[str], rank1: int, **settings: str
) -> tuple[list[str], list[dict[str, Any]]]:
    """What each of three ranks of a node says on standard error, and reports. The GPU of the second
    has so much memory, and the others more than enough."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(folder / "id"), "WORLD_SIZE": "3"}
    own |= {"FAKE_NCCL_PEER_BYTES": str(PAIR)}
    named = {"CODEC": "lossless", "SAME_NODE": "1", "THRESHOLD": "1KiB"}
    named |= {"REPORT": str(folder / "report")} | settings
    own |= {f"THINWIRE_{name}": value for name, value in named.items()}
    started = [
        Popen(
            [str(PROGRAMS / "nccl_room"), *words],
            env=kept
            | own
            | {"RANK": str(rank), "FAKE_GPU_BYTES": str(rank1 if rank == 1 else 2 * ENOUGH)},
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank in range(3)
    ]
    said = [each.communicate(timeout=240) for each in started]
    assert [output for output, _ in said] == ["ok\n"] * 3, said
    reports = [json.loads((folder / f"report.nccl.rank{rank}").read_text()) for rank in range(3)]
    return [without_silence(errors) for _, errors in said], [
        report["communicators"][0] for report in reports
    ]


def test_a_rank_without_room_keeps_all_raw_and_says_why(tmp_path: Path) -> None:
    errors, reports = run(tmp_path, ["160"], ENOUGH - 128 * MIB, FORCE="1")
    for rank in reports:
        of = rank["operations"]["AllReduce"]
        assert of["compressed_calls"] == 0 and of["raw_by_reason"][SHORT] > 50
        assert rank["connections"] == {"ranks": 0, "estimated_bytes": 0}
        assert rank["memory"]["free"] == []
    assert errors[0] == errors[2] == ""
    free = (ENOUGH - 128 * MIB) // MIB
    assert errors[1].count("\n") == 1
    assert f"for want of GPU memory: {free} MiB are free" in errors[1]
    assert "NCCL connects with 2 ranks more, up to 960; 512 are left to the program" in errors[1]
    # It has taken nothing for calls that stay raw.
    assert reports[1]["memory"]["most_held_bytes"] == 0 < reports[0]["memory"]["most_held_bytes"]


def test_what_was_free_before_and_behind_the_first_call_is_told(tmp_path: Path) -> None:
    errors, reports = run(tmp_path, ["160"], ENOUGH, FORCE="1")
    assert errors == [""] * 3
    for at, rank in enumerate(reports):
        assert rank["operations"]["AllReduce"]["compressed_calls"] > 50
        assert rank["connections"] == {"ranks": 2, "estimated_bytes": 2 * PAIR}
        free = ENOUGH if at == 1 else 2 * ENOUGH
        (first,) = rank["memory"]["free"]
        assert first == {
            "operation": "AllReduce",
            "dtype": "f32",
            "least_bytes": 65536,
            "before_bytes": free,
            "behind_bytes": free - 2 * PAIR,
        }
        assert 0 < rank["memory"]["held_bytes"] + rank["memory"]["most_held_bytes"] < 8 * MIB


def test_the_report_in_words_tells_it(tmp_path: Path) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "FAKE_GPU_BYTES": "4e9", "FAKE_NCCL_PEER_BYTES": "1e6"}
    own |= {"THINWIRE_CODEC": "lossless", "THINWIRE_FORCE": "1", "THINWIRE_SAME_NODE": "1"}
    program = Popen(
        [str(PROGRAMS / "nccl_room"), "160"],
        env=kept | own | {"THINWIRE_REPORT": "1"},
        stderr=PIPE,
        text=True,
    )
    errors = program.communicate(timeout=240)[1]
    assert " MiB of GPU memory of the library's own\n" in errors
    first = "    the first compressed AllReduce of f32, 65536 to 131071 bytes: "
    assert first + "3814 MiB of the GPU were free before it, 38" in errors


def test_memory_that_is_taken_before_the_first_compressed_call(tmp_path: Path) -> None:
    """Natively the program would go on."""
    errors, reports = run(tmp_path, ["200", "40", str(300 * MIB)], 2 * ENOUGH)
    assert errors[0] == errors[2] == ""
    assert "300 MiB are free" in errors[1]
    for rank in reports:
        of = rank["operations"]["AllReduce"]
        assert of["compressed_calls"] == 0 and of["raw_by_reason"][SHORT] > 50


def test_what_stays_raw_connects_nobody(tmp_path: Path) -> None:
    """As its calls are too few to be timed both ways."""
    _, reports = run(tmp_path, ["60"], ENOUGH)
    for rank in reports:
        assert rank["operations"]["AllReduce"]["compressed_calls"] == 0
        assert rank["connections"] == {"ranks": 0, "estimated_bytes": 0}
