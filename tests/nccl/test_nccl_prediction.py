"""`auto` without a stated link goes by what the machine tells of its interfaces, and tries nothing
that cannot gain; over a libnccl of host memory."""

from pathlib import Path

import pytest
from test_nccl_guard import communicators
from test_nccl_nodes import run_on
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

UNKNOWN = "the link's rate is not known"
FASTER = "would not gain"
TIMED = "being timed, raw and compressed"
MANY = "too many steps or peers for what it could save"
NODES = [0, 0, 1, 1]


def system(path: Path, rate: str, speed: str = "-1") -> str:
    """A /sys with one port of InfiniBand and one other interface."""
    port = path / "class" / "infiniband" / "mlx5_0" / "ports" / "1"
    port.mkdir(parents=True, exist_ok=True)
    (port / "state").write_text("4: ACTIVE\n")
    (port / "rate").write_text(f"{rate}\n")
    other = path / "class" / "net" / "eth0"
    (other / "device").mkdir(parents=True, exist_ok=True)
    (other / "operstate").write_text("up\n")
    (other / "speed").write_text(f"{speed}\n")
    return str(path)


def gathers(path: Path, *systems: str, **settings: str) -> list[dict]:
    environments = [{"THINWIRE_TEST_SYSTEM": each} for each in systems]
    named = {"CODEC": "auto"} | settings
    used = run_on(NODES, ["nccl_windows", "plain", "150"], path / "run", environments, **named)
    return [of["AllGather"] for of in used]


@pytest.mark.parametrize("rate", ["1 Gb/sec (1X SDR)", "10 Gb/sec (4X SDR)"])
def test_auto_begins_where_the_machine_tells_a_rate(rate: str, tmp_path: Path) -> None:
    for of in gathers(tmp_path, *[system(tmp_path, rate)] * 4):
        assert TIMED in of["raw_by_reason"] and of["compressed_calls"] > 0


def test_what_cannot_gain_is_not_tried(tmp_path: Path) -> None:
    for of in gathers(tmp_path, *[system(tmp_path, "80000 Gb/sec")] * 4):
        assert of["raw_by_reason"][FASTER] > 75
        assert of["compressed_calls"] == 0 and TIMED not in of["raw_by_reason"]


def test_one_rank_that_knows_a_faster_link_is_enough(tmp_path: Path) -> None:
    """All ranks are raw from the same call on."""
    slow = system(tmp_path / "slow", "1 Gb/sec")
    fast = system(tmp_path / "fast", "80000 Gb/sec")
    for of in gathers(tmp_path, slow, slow, slow, fast):
        assert of["raw_by_reason"][FASTER] > 75 and of["compressed_calls"] == 0


@pytest.mark.parametrize("rate", ["", "-1 Gb/sec", "garbage", "1e400 Gb/sec"])
def test_what_is_malformed_is_not_known(rate: str, tmp_path: Path) -> None:
    for of in gathers(tmp_path, *[system(tmp_path, rate, "1000")] * 4):
        assert of["raw_by_reason"] == {UNKNOWN: 150}


def test_settings_of_nccl_choose_the_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_IB_DISABLE", "1")
    for of in gathers(tmp_path, *[system(tmp_path, "80000 Gb/sec", "1000")] * 4):
        assert TIMED in of["raw_by_reason"]


def test_a_stated_link_is_no_bound(tmp_path: Path) -> None:
    """What the user states lets `auto` try, as ever."""
    for of in gathers(tmp_path, *[system(tmp_path, "80000 Gb/sec")] * 4, LINK="400gbit"):
        assert TIMED in of["raw_by_reason"]


def test_inside_a_host_no_interface_is_a_rate(tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_windows", "plain", "100")
    named = {"CODEC": "auto", "FORCE": "0", "TEST_SYSTEM": system(tmp_path, "1 Gb/sec")}
    output, said = run(*words, REPORT="1", **named)
    assert output == "ok\n" and UNKNOWN in said and TIMED not in said


@pytest.mark.parametrize("link", [None, "1gbit"], ids=["no link", "a slow link"])
def test_sums_with_many_peers_are_tried_where_they_may_gain(
    link: str | None, tmp_path: Path
) -> None:
    """Of 34 ranks, each taken for a node of its own."""
    named = {"CODEC": "lossless:reductions=coded", "FORCE": "0", "CONNECTIONS": "100"}
    named |= {"LINK": link} if link else {}
    words = (PROGRAMS / "nccl_room", "110" if link else "90")
    assert run(*words, ranks=34, REPORT=tmp_path / "report", **named) == ("ok\n", "")
    for rank in communicators(tmp_path / "report.nccl.rank0"):
        sums = rank["operations"]["AllReduce"]
        if link:
            assert MANY not in sums["raw_by_reason"] and TIMED in sums["raw_by_reason"]
        else:
            assert sums["raw_by_reason"][MANY] > 10 and sums["compressed_calls"] == 0
