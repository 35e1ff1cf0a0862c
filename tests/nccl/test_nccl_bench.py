"""The program that `thinwire bench nccl` runs, over the libnccl of host memory."""

import json
import os
import socket
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import numpy as np
import pytest
from test_nccl_shim import BUILD, PROGRAMS, SHIM

pytestmark = pytest.mark.multiproc

OF_HOPS = ("all_gather", "reduce_scatter", "all_reduce", "broadcast", "all_to_all")
OPERATIONS = (*OF_HOPS, "send_recv", "all_to_all_grouped", "scatter")
SIZE = 128 << 10
# Blocks of a ring are compressed as well.
THRESHOLD = 16 << 10


@pytest.fixture
def values(tmp_path: Path) -> Path:
    """A file of smooth fp32 values, which all codecs make smaller."""
    path = tmp_path / "values.f32"
    np.sin(np.arange(3 * SIZE // 4) / 300).astype(np.float32).tofile(path)
    return path


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def measured(
    ranks: int,
    values: Path,
    *words: str,
    codec: str = "lorenzo",
    preload: bool = True,
    force: bool = True,
) -> tuple[list[dict[str, Any]], list[int]]:
    """The lines that rank 0 prints, and the exit codes."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    own |= {"THINWIRE_CODEC": codec, "THINWIRE_REPORT": str(values.with_name("report"))}
    own |= {"THINWIRE_THRESHOLD": str(THRESHOLD), "THINWIRE_SAME_NODE": "1"}
    own["THINWIRE_FORCE"] = "1" if force else "0"
    if preload:
        own["LD_PRELOAD"] = str(SHIM)
    libnccl = PROGRAMS / "lib" / "libnccl.so.2"
    command = [str(BUILD / "bin" / "nccl"), "--library", str(libnccl), "--data", str(values)]
    command += ["--threshold", str(THRESHOLD)]
    started = [
        Popen([*command, *words], env=kept | own | {"RANK": str(rank)}, stdout=PIPE, text=True)
        for rank in range(ranks)
    ]
    said = [process.communicate(timeout=120)[0] for process in started]
    assert set(said[1:]) <= {""}
    codes = [process.returncode for process in started]
    return [json.loads(line) for line in said[0].splitlines()], codes


def test_every_operation_is_right_in_every_way(values: Path) -> None:
    words = ("--operations", ",".join(OPERATIONS), "--sizes", f"{SIZE},{2 * SIZE}")
    lines, codes = measured(
        3, values, *words, "--ways", "raw,coded,per-hop", "--iterations", "3", "--filler", "4096"
    )
    assert codes == [0, 0, 0]
    assert [(line["operation"], line["bytes"], line["way"]) for line in lines] == [
        (operation, size, way)
        for operation in OPERATIONS
        for size in (SIZE, 2 * SIZE)
        for way in ("raw", "coded", "per-hop")
        if operation in OF_HOPS or way != "per-hop"
    ]
    for line in lines:
        assert line["wrong"] == 0 and line["sound"] and line["identical"], line
        assert 0 < line["min"] <= line["seconds"] <= line["max"]
        assert 0 < line["host_seconds"] <= line["max"]
        if line["way"] == "raw":
            assert line["calls"] == 0
            continue
        assert line["compressed_calls"] == line["calls"] > 0, str(line)
        assert line["why_raw"] == "" and line["warm_up_calls"] > 1
        assert 0 < line["wire_bytes"] < 0.9 * line["raw_bytes"]
        assert line["presence"] == "all 3 ranks have it"
    gathers = [line for line in lines if line["operation"] == "all_gather"]
    # A call a turn and rank; a ring of 3 has two hops.
    assert [line["calls"] for line in gathers[:3]] == [0, 9, 18]
    assert [line["raw_bytes"] for line in gathers[:3]] == [0, 9 * SIZE, 18 * SIZE]
    # A message to each of the others; what a rank sends itself counts for nothing.
    grouped = [line for line in lines if line["operation"] == "all_to_all_grouped"]
    assert [line["calls"] for line in grouped[:2]] == [0, 18]
    assert [line["raw_bytes"] for line in grouped[:2]] == [0, 18 * SIZE]
    # The root's sends; receives count none.
    scattered = [line for line in lines if line["operation"] == "scatter"]
    assert [line["raw_bytes"] for line in scattered[:2]] == [0, 6 * SIZE]


def test_calls_back_to_back(values: Path) -> None:
    words = ("--operations", "all_reduce", "--sizes", str(SIZE), "--calls", "4")
    lines, codes = measured(2, values, *words, "--iterations", "2")
    assert codes == [0, 0]
    assert [line["calls"] for line in lines] == [0, 2 * 2 * 4]


def test_sums_of_16_bit_types(values: Path) -> None:
    narrow = values.with_suffix(".bf16")
    (np.fromfile(values, np.uint32) >> 16).astype(np.uint16).tofile(narrow)
    words = ("--operations", "reduce_scatter,all_reduce", "--sizes", str(SIZE), "--dtype", "bf16")
    lines, codes = measured(
        3, narrow, *words, "--ways", "raw,coded,per-hop", "--iterations", "2", codec="lossless"
    )
    assert codes == [0, 0, 0]
    assert all(line["sound"] and line["identical"] for line in lines)


@pytest.mark.parametrize(("bound", "sound"), [("1e-3", True), ("1e-5", False)])
def test_lossy_results_are_held_to_their_bound(values: Path, bound: str, sound: bool) -> None:
    words = ("--operations", "all_gather,all_reduce", "--sizes", str(SIZE), "--lossless", "no")
    lines, codes = measured(
        2, values, *words, "--bound", bound, "--iterations", "1", codec="szp:abs=1e-3"
    )
    assert codes == ([0, 0] if sound else [1, 1])
    for line in lines:
        assert line["sound"] == (sound or line["way"] == "raw")
        assert (line["wrong"] == 0) == line["sound"]


@pytest.mark.parametrize(
    ("codec", "promise"),
    [
        ("szp:allreduce-abs=1e-2", ("--sum-bound", "0.01")),
        ("szp:allreduce-rel=1e-3", ("--sum-rel", "0.001")),
    ],
)
def test_bounded_sums(values: Path, codec: str, promise: tuple[str, str]) -> None:
    words = ("--operations", "all_reduce,reduce_scatter", "--sizes", str(SIZE), "--lossless", "no")
    lines, codes = measured(3, values, *words, *promise, "--iterations", "2", codec=codec)
    assert codes == [0, 0, 0]
    coded = [line for line in lines if line["way"] == "coded"]
    assert len(coded) == 2
    for line in coded:
        assert line["sound"] and line["identical"]
        assert line["compressed_calls"] == line["calls"] > 0, str(line)
        assert line["spilled_blocks"] == 0
        assert line["wire_bytes"] < line["raw_bytes"]


def test_what_is_not_lossless_is_found_out(values: Path) -> None:
    words = ("--operations", ",".join(OPERATIONS), "--sizes", str(SIZE), "--iterations", "1")
    lines, codes = measured(2, values, *words, "--lossless", "yes", codec="zfp:rate=8")
    assert codes == [1, 1]
    for line in lines:
        assert line["sound"] == (line["way"] == "raw")
        assert (line["wrong"] > 0) == (line["way"] == "coded")


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("below the threshold", {}),
        ("the preload library for NCCL is not there, or its report is off", {"preload": False}),
        ("codec off", {"codec": "off"}),
    ],
)
def test_calls_that_stay_raw_say_why(values: Path, reason: str, options: dict[str, Any]) -> None:
    size = "4096" if reason == "below the threshold" else str(SIZE)
    lines, codes = measured(2, values, "--operations", "all_gather", "--sizes", size, **options)
    assert codes == [0, 0]
    raw, coded = lines
    assert (raw["why_raw"], coded["why_raw"]) == ("", reason)
    assert coded["compressed_calls"] == 0 and coded["warm_up_calls"] == 1


def test_calls_that_do_not_pay_are_raw_unless_ordered(
    values: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns begin once that is known, also where half of those before were compressed."""
    monkeypatch.setenv("FAKE_NCCL_FUNCTION_US", "3000")
    words = ("--operations", "all_gather", "--sizes", str(SIZE), "--iterations", "2")
    lines, codes = measured(2, values, *words, force=False)
    assert codes == [0, 0]
    assert (lines[1]["why_raw"], lines[1]["compressed_calls"]) == ("faster raw, as timed", 0)
    assert lines[1]["calls"] == 2 * 2 and lines[1]["warm_up_calls"] > 16


def test_wrong_words_are_refused(values: Path) -> None:
    for words in (("--operations", "scan"), ("--sizes", "7"), ("--iterations", "0")):
        assert measured(1, values, *words) == ([], [2])


def test_ranks_end_when_one_has_failed(values: Path) -> None:
    """And tell why, each its own."""
    command = [str(BUILD / "bin" / "nccl"), "--operations", "all_gather", "--sizes", str(SIZE)]
    command += ["--data", str(values), "--library"]
    place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    libraries = [str(PROGRAMS / "lib" / "libnccl.so.2"), "/no/libnccl.so.2"]
    started = [
        Popen(
            [*command, library],
            env=os.environ | place | {"RANK": str(rank)},
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank, library in enumerate(libraries)
    ]
    said = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [1, 1]
    assert said[0][0] == "" and said[0][1].startswith("nccl: rank 0: another rank")
    assert "/no/libnccl.so.2" in said[1][1]
