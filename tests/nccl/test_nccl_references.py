"""NCCL programs whose gathers and broadcasts are coded against earlier results."""

import json
from pathlib import Path

import pytest
from test_nccl_coded import figures
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "nccl_references"
BLOCK = 2 * 60_000  # bytes of a rank's part of a layer


def share(ranks: list[dict]) -> float:
    """Of what was compressed: how much went over the wire."""
    sent = sum(each["compressed_bytes"] for each in ranks)
    return sum(each["compressed_wire_bytes"] for each in ranks) / sent


def steps(count: int, path: Path, *words: str, **settings: str | Path) -> dict[str, list[dict]]:
    output, errors = run(PROGRAM, str(count), *words, REPORT=path / "report", **settings)
    assert (output, errors) == ("ok\n", "")
    return figures(path / "report.nccl.rank0")


@pytest.mark.parametrize("codec", ["lossless", "expack"])
def test_weights_of_which_few_change(codec: str, tmp_path: Path) -> None:
    """From the capacity of weights as they are to that of differences takes some hundred calls."""
    found = steps(240, tmp_path, CODEC=codec, REFERENCES="16MiB")
    for name in ("AllGather", "Broadcast"):
        for each in found[name]:
            assert each["compressed_calls"] > 900, each
            assert each["difference_bytes"] > each["compressed_calls"] * BLOCK / 2
    with_them = share(found["AllGather"])
    without = share(steps(120, tmp_path, CODEC=codec)["AllGather"])
    assert with_them < 0.75 * without, (with_them, without)


def test_weights_that_all_change(tmp_path: Path) -> None:
    found = steps(60, tmp_path, "noise", CODEC="expack", REFERENCES="16MiB")
    for name in ("AllGather", "Broadcast"):
        assert all(each["compressed_calls"] > 100 for each in found[name])
        assert all(each["difference_bytes"] == 0 for each in found[name])


@pytest.mark.parametrize("memory", ["64KiB", "900KiB"])
def test_memory_that_has_not_room_for_all(memory: str, tmp_path: Path) -> None:
    found = steps(60, tmp_path, CODEC="expack", REFERENCES=memory)
    assert all(each["compressed_calls"] > 100 for each in found["AllGather"])
    differs = sum(each["difference_bytes"] for each in found["AllGather"]) > 0
    assert differs == (memory == "900KiB")


def test_communicators_that_do_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_COMM_BLOCKING", "0")
    found = steps(60, tmp_path, CODEC="expack", REFERENCES="16MiB")
    assert all(each["difference_bytes"] > 0 for each in found["AllGather"])


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    output, errors = run(
        PROGRAMS / "nccl_random",
        str(seed),
        "600",
        CODEC="lossless",
        THRESHOLD="1KiB",
        REFERENCES="1MiB",
        REPORT=tmp_path / "report",
    )
    assert (output, errors) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    operations = [each["operations"] for each in report["communicators"]]
    names = ("AllGather", "Broadcast", "AllReduce")
    coded = [
        each[name]["compressed_calls"] for each in operations for name in names if name in each
    ]
    assert sum(coded) > 0
