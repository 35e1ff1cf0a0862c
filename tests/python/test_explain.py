"""`thinwire explain`: the library's own choice for a message or a collective, and why."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import thinwire
from thinwire.bench import prices
from thinwire.cli import command_line
from thinwire.codec import CodecCost
from thinwire.plan import PlanSettings, plan_collective, plan_message

SIXTEEN = ("--bytes", "16MiB")


@pytest.fixture(autouse=True)
def no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine's user has: test_tune.py has tables."""
    monkeypatch.setattr(prices, "find_here", lambda *_: None)
    for name in ("CODEC", "POLICY", "LINK", "THRESHOLD"):
        monkeypatch.delenv(f"THINWIRE_{name}", raising=False)


def call(*arguments: str) -> Any:
    """In this process: starting Python for each would take most of the time."""
    return CliRunner().invoke(command_line(), ["explain", *arguments])


def explained(*arguments: str) -> dict[str, Any]:
    done = call(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_slow_link_is_worth_a_codec_and_the_parts_are_the_whole() -> None:
    found = explained(*SIXTEEN, "--link", "10mbit", "--codec", "mpc")
    raw, mpc = found["rows"]
    assert (found["why_raw"], found["sends"]) == ("", "mpc:stride=1")
    assert raw["seconds"] == pytest.approx(16 * 2**20 / 1.25e6)
    parts = mpc["encode_seconds"] + mpc["transfer_seconds"] + mpc["decode_seconds"]
    assert mpc["seconds"] == pytest.approx(parts) and mpc["seconds"] < raw["seconds"]
    assert 1 < mpc["needed_ratio"] < mpc["ratio"]
    assert found["costs"] == "measured now on generated data"


def test_a_fast_link_is_not() -> None:
    found = explained(*SIXTEEN, "--link", "100GB/s", "--codec", "mpc")
    assert found["why_raw"] == "would not gain" and found["sends"] == "raw"
    assert found["sentence"] == "raw: would not gain"


BELOW = "below the threshold"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--codec", "mpc", "--bytes", "4KiB"), BELOW),
        (("--codec", "mpc", "--bytes", "128KiB", "--op", "allgather", "--ranks", "4"), BELOW),
        (("--codec", "mpc", *SIXTEEN, "--nodes", "1"), "peer on the same node"),
        (("--codec", "off", *SIXTEEN), "codec off"),
        (SIXTEEN, "the link's rate is not known"),
        (("--codec", "mpc", *SIXTEEN, "--dtype", "f16"), "datatype not taken by the codec"),
        ((*SIXTEEN, "--op", "allreduce", "--link", "1gbit"), "reductions left as they are"),
    ],
)
def test_the_reason_is_the_one_of_reports(arguments: tuple[str, ...], why: str) -> None:
    found = explained(*arguments)
    assert (found["why_raw"], found["sends"], found["sentence"]) == (why, "raw", f"raw: {why}")


def test_auto_has_the_candidates_of_the_type() -> None:
    of_f64 = {"lorenzo", "mpc", "ans"}
    for dtype, names in (("f32", of_f64 | {"expack"}), ("f64", of_f64)):
        found = explained(*SIXTEEN, "--link", "10mbit", "--dtype", dtype)
        assert {row["candidate"].partition(":")[0] for row in found["rows"][1:]} == names
        assert found["sends"].partition(":")[0] in ("lorenzo", "ans")


def test_a_files_data_decides(tmp_path: Path) -> None:
    slow = ("--link", "10mbit", "--dtype", "f32")
    noise = np.random.default_rng(1).integers(0, 2**32, 1 << 20, np.uint32)
    smooth = np.sin(np.arange(1 << 20) / 1000).astype(np.float32)
    for values, sends in ((noise, "raw"), (smooth, "mpc")):
        file = tmp_path / "values"
        values.tofile(file)
        found = explained(*SIXTEEN, *slow, "--data", str(file))
        assert found["sends"].partition(":")[0] == sends
        assert f"measured now on {4 << 20} bytes of values, in 4 pieces" in found["costs"]
    assert found["rows"][1]["ratio"] > 1.5
    (tmp_path / "empty").touch()
    assert call(*SIXTEEN, "--data", str(tmp_path / "empty")).exit_code == 2


def test_a_policys_rule_names_the_codec(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[rule]]\nname = "sums"\ncommunicator = "dp*"\noperation = "allreduce"\n'
        'codec = "zfp:rate=8"\n[[rule]]\nspan = "within-node"\ncodec = "off"\n'
    )
    sums = ("--op", "allreduce", "--ranks", "8", "--policy", str(policy), "--link", "100mbit")
    found = explained(*SIXTEEN, *sums, "--comm-name", "dp0")
    assert found["rule"].startswith("rule 1 (line 1, sums): allreduce")
    assert found["sends"] == "zfp:rate=8" and found["algorithm"] and found["coding"] == "once"
    other = explained(*SIXTEEN, *sums, "--codec", "mpc")
    assert other["rule"].startswith("no rule takes it") and other["codec"] == "mpc:stride=1"
    inside = explained(*SIXTEEN, *sums, "--nodes", "1")
    assert inside["why_raw"] == "codec off" and inside["rows"][1:] == []


@pytest.mark.parametrize("bound", ["allreduce-abs=1e-4", "allreduce-rel=1e-4"])
def test_a_bound_of_results_is_weighed_by_what_a_coding_gets(bound: str) -> None:
    sums = ("--op", "allreduce", "--link", "1mbit", "--codec", f"szp:{bound}", "--ranks")
    few, many = (explained(*SIXTEEN, *sums, ranks) for ranks in ("2", "32"))
    assert few["codec"] == f"szp:{bound}" and few["why_raw"] == ""
    ratios = [found["rows"][1]["ratio"] for found in (few, many)]
    assert ratios[0] > 1.5
    # A share of all ranges grows with the ranks, a number is shared out among them.
    assert ratios[1] < ratios[0] if "abs" in bound else ratios[1] == pytest.approx(ratios[0])


def test_small_arrays_on_many_ranks_go_by_recursive_doubling_also_under_a_bound() -> None:
    cost = CodecCost(4e9, 4e9, 4.0)
    settings = PlanSettings(threshold=65536, link=125e6, cost=cost)
    codec = thinwire.Codec("szp:allreduce-rel=1e-4")
    found = {
        size: plan_collective(codec, settings, "allreduce", "f32", size, ranks=64, nodes=64)
        for size in (65536, 1 << 24)
    }
    assert {size: one.algorithm for size, one in found.items()} == {
        65536: "recursive-doubling",
        1 << 24: "direct",
    }


def test_in_words() -> None:
    done = call(*SIXTEEN, "--codec", "mpc", "--link", "10mbit")
    first, second, *table, last = done.stdout.splitlines()
    assert first.startswith("message of 16777216 bytes of f32, 2 ranks on 2 nodes; link 10mbit")
    assert second == "codec: mpc:stride=1; costs: measured now on generated data"
    assert [row.split()[0] for row in table] == ["candidate", "raw", "mpc:stride=1"]
    assert last.startswith("compressed by mpc:stride=1, ratio ") and last.endswith(" ms raw")
    assert call(*SIXTEEN, "--ranks", "2", "--nodes", "3").exit_code == 2


def test_plans_from_python() -> None:
    cost = CodecCost(1e9, 1e9, 4.0)
    settings = PlanSettings(threshold=65536, link=125e6, cost=cost)
    codec = thinwire.Codec("mpc")
    message = plan_message(codec, settings, "f32", 1 << 20)
    assert message.why_raw == "" and message.raw_seconds == pytest.approx(2**20 / 125e6)
    assert message.seconds == pytest.approx(2**20 * (2 / 1e9 + 1 / (4 * 125e6)))
    assert message.least_ratio == pytest.approx(1 / (1 - 2 * 125e6 / 1e9))
    near = plan_message(codec, settings, "f32", 1 << 20, same_node=True)
    assert near.why_raw == "peer on the same node" and near.seconds is None
    whole = plan_collective(codec, settings, "bcast", "f32", 1 << 20, ranks=4, nodes=4)
    assert whole.why_raw == "" and whole.piece_bytes > 0
    assert whole.algorithm in ("chain", "binomial")
    with pytest.raises(ValueError, match="none of bcast"):
        plan_collective(codec, settings, "dance", "f32", 1 << 20, ranks=4, nodes=4)


def test_under_nccl_the_hosts_interfaces_tell_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the library for NCCL has it, which reads them once a process."""
    port = tmp_path / "class" / "infiniband" / "mlx5_0" / "ports" / "1"
    port.mkdir(parents=True)
    (port / "state").write_text("4: ACTIVE\n")
    for rate, says in (
        ("0.1 Gb/sec", "compressed by"),
        ("-1", "raw: the link's rate is not known"),
    ):
        (port / "rate").write_text(f"{rate}\n")
        words = [sys.executable, "-m", "thinwire", "explain", *SIXTEEN, "--nccl"]
        env = os.environ | {"THINWIRE_TEST_SYSTEM": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
        assert says in done.stdout.replace("\n", " "), done.stdout
        assert ("link 0.1gbit by this host's interfaces" in done.stdout) == (rate != "-1")


@pytest.mark.parametrize(("option", "name"), [("--window", "kInWindow"), ("--zero-cta", "kNoCtas")])
def test_what_is_left_to_nccl_is_raw_as_its_library_says(option: str, name: str) -> None:
    found = explained(*SIXTEEN, "--link", "10mbit", "--codec", "mpc", option)
    source = Path(__file__).resolve().parents[2] / "shim" / "nccl" / "state" / "reason.cpp"
    text = source.read_text().split(f"case {name}:")[1].split('"')[1]
    assert found["why_raw"] == text and found["sends"] == "raw"
    assert found["sentence"] == f"raw: {text}"
