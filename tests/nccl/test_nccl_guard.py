"""Calls of a class are compressed where that is faster, as timed; over a libnccl of host memory."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM, run

pytestmark = pytest.mark.multiproc

# A timing round times so many calls of each way.
TIMED = 8
COLLECTIVES = ("AllGather", "AllReduce", "Broadcast", "ReduceScatter")


def communicators(path: Path) -> list[dict]:
    """In the order of ranks."""
    found = json.loads(path.read_text())["communicators"]
    return sorted(found, key=lambda each: each["rank"])


def timed(communicator: dict, *names: str) -> list[dict]:
    return [each for each in communicator["timed"] if each["operation"] in names]


@pytest.mark.parametrize("codec", ["lorenzo", "zfp:rate=28"])
def test_a_codec_that_loses_is_timed_and_goes_raw(
    codec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where each step of its takes some milliseconds, and the fake link nothing."""
    monkeypatch.setenv("FAKE_NCCL_FUNCTION_US", "4000")
    settings = {"CODEC": codec, "FORCE": "0", "REPORT": tmp_path / "report", "LOG": "plan"}
    output, errors = run(PROGRAMS / "nccl_coded", "240", **settings)
    assert output == "ok\n"
    ranks = communicators(tmp_path / "report.nccl.rank0")
    for rank in ranks:
        for name in COLLECTIVES:
            figures = rank["operations"][name]
            # Twice if a broadcast has two roots.
            classes = 2 if name == "Broadcast" else 1
            assert figures["compressed_calls"] == TIMED * classes, name
            assert figures["raw_by_reason"]["being timed, raw and compressed"] >= TIMED * classes
            assert figures["raw_by_reason"]["faster raw, as timed"] > 10
        for each in timed(rank, *COLLECTIVES):
            assert each["way"] == "raw" and each["probations"] == 1
            assert each["raw_nanoseconds"] < each["compressed_nanoseconds"]
    # All ranks have the same figures.
    of_all = [sorted(map(str, timed(rank, *COLLECTIVES))) for rank in ranks]
    assert len(of_all[0]) == len(COLLECTIVES) + 1 and of_all == of_all[:1] * 4
    lines = [line for line in errors.splitlines() if "AllReduce of f32" in line]
    assert len(lines) == 1
    assert f"262144 to 524287 bytes, {codec}" in lines[0]
    assert ": raw; raw took" in lines[0] and lines[0].endswith("(timing round 1)")


@pytest.mark.alone
def test_over_a_slow_link_a_codec_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCCL_RATE", "2e7")
    settings = {"CODEC": "lorenzo", "FORCE": "0", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_coded", "110", **settings) == ("ok\n", "")
    ranks = communicators(tmp_path / "report.nccl.rank0")
    for rank in ranks:
        # Messages are not agreed on yet.
        for each in timed(rank, *COLLECTIVES):
            assert each["way"] == "compressed", each
            assert each["compressed_nanoseconds"] < 0.95 * each["raw_nanoseconds"]
        for name in COLLECTIVES:
            assert rank["operations"][name]["compressed_calls"] > 30, name
        assert {each["operation"] for each in rank["timed"]} >= {*COLLECTIVES}
    gathers = {rank["operations"]["AllGather"]["compressed_calls"] for rank in ranks}
    assert len(gathers) == 1


@pytest.mark.alone
@pytest.mark.parametrize(("gathered", "calls"), [("noise", "90"), ("integers", "150")])
def test_what_a_call_waits_for_is_not_its_time(
    gathered: str, calls: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums take 3 ms raw, the gathers on another stream before them 64: of both together
    compression gains too little. Integers have no numbers, so that agreement takes more calls."""
    monkeypatch.setenv("FAKE_NCCL_RATE", "1e8")
    settings = {"CODEC": "lorenzo", "FORCE": "0", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_streams", calls, gathered, **settings) == ("ok\n", "")
    for rank in communicators(tmp_path / "report.nccl.rank0"):
        assert rank["operations"]["AllGather"]["compressed_calls"] == 0
        sums = timed(rank, "ReduceScatter")
        assert [each["way"] for each in sums] == ["compressed"]
        assert sums[0]["raw_nanoseconds"] < 32e6
        assert rank["operations"]["ReduceScatter"]["compressed_calls"] > TIMED


@pytest.mark.parametrize(("seed", "blocking"), [(3, "1"), (5, "1"), (4, "0")])
def test_random_programs_that_are_timed(
    seed: int, blocking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fake link makes some calls worth it; whatever is found out, all ranks do it alike."""
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocking)
    monkeypatch.setenv("FAKE_NCCL_RATE", "4e8")
    words = (PROGRAMS / "nccl_random", str(seed), "5000" if blocking == "1" else "1500")
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "FORCE": "0"}
    assert run(*words, REPORT=tmp_path / "report", **settings) == ("ok\n", "")
    of_all = json.loads((tmp_path / "report.nccl.rank0").read_text())["communicators"]
    assert sum(len(each["timed"]) for each in of_all) > 0
    spent = sum(
        figures["raw_by_reason"].get("being timed, raw and compressed", 0)
        for each in of_all
        for figures in each["operations"].values()
    )
    assert spent > 20


def test_simulated_groups_are_no_turns(tmp_path: Path) -> None:
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "FORCE": "0"}
    words = (PROGRAMS / "nccl_lives", "simulate")
    assert run(*words, REPORT=tmp_path / "report", **settings) == ("ok\n", "")
    counts = [
        each["operations"]["AllGather"] for each in communicators(tmp_path / "report.nccl.rank0")
    ]
    assert len({json.dumps(each["raw_by_reason"]) for each in counts if each["calls"] == 380}) == 1


def test_ranks_that_differ_in_it_are_raw(tmp_path: Path) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(tmp_path / "id"), "RANKS": "2"}
    own |= {"THINWIRE_CODEC": "lossless", "THINWIRE_THRESHOLD": "1KiB"}
    started = [
        Popen(
            [str(PROGRAMS / "nccl_every"), "4"],
            env=kept | own | {"RANK": str(rank), "THINWIRE_FORCE": str(rank)},
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [each.communicate(timeout=120) for each in started]
    assert [output for output, _ in said] == ["ok\n", "ok\n"]
    assert "what does not pay is" in said[0][1] + said[1][1]
