"""NCCL programs under a policy: communicators of different names have codecs of their own."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM, run

pytestmark = pytest.mark.multiproc

CALLS = "400"  # many: beside other work ranks agree late
GROUPS = """\
[[rule]]
name = "large gradients"
communicator = "dp*"
operation = "allreduce"
size-from = 26000
codec = "blockq:bits=8"

[[rule]]
name = "gradients"
communicator = "dp*"
operation = "allreduce"
codec = "lorenzo"

[[rule]]
name = "messages"
operation = "send"
codec = "default"

[[rule]]
name = "tensor parallel"
communicator = "tp*"
codec = "off"
"""
SPANS = """\
[[rule]]
name = "near"
operation = "send"
span = "within-node"
codec = "expack"

[[rule]]
name = "far"
operation = "send"
span = "between-nodes"
codec = "lorenzo"
"""


def policy(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text)
    return path


def by_name(report: dict) -> dict[str, dict]:
    return {rule["rule"]: rule for rule in report["rules"]}


def coded(report: dict, name: str, operation: str = "AllReduce") -> list[int]:
    """Of each rank, how many of its calls on communicators of that name."""
    found = [each for each in report["communicators"] if each["name"] == name]
    return [each["operations"][operation]["compressed_calls"] for each in found]


def test_each_rule_has_its_codec(tmp_path: Path) -> None:
    output, errors = run(
        PROGRAMS / "nccl_policy",
        CALLS,
        CODEC="mpc",
        THRESHOLD="1KiB",
        POLICY=policy(tmp_path, GROUPS),
        REPORT=tmp_path / "report",
    )
    assert (output, errors) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    rules = by_name(report)
    assert [rule["line"] for rule in report["rules"]] == [1, 8, 14, 19]
    # Both sizes are of one octave; each codec leaves what it leaves.
    large, small = rules["large gradients"], rules["gradients"]
    for rule in (large, small):
        assert rule["calls"] == 4 * int(CALLS) // 2
        assert rule["compressed_calls"] > 4 * 20
    assert large["codec"] == "blockq:bits=8,block=32"
    assert small["codec"] == "lorenzo:tuple=1"
    assert rules["messages"]["compressed_calls"] > 4 * 20
    # Also of what is split off without a name of its own.
    off = rules["tensor parallel"]
    assert off["calls"] == 2 * 4 * int(CALLS) and off["compressed_calls"] == 0
    for each in report["communicators"]:
        if each["name"] == "tp0":
            assert each["operations"]["AllReduce"]["raw_by_reason"] == {"codec off": int(CALLS)}
        if each["name"] == "dp0":
            integers = {"datatype not taken by the codec": int(CALLS)}
            assert each["operations"]["AllGather"]["raw_by_reason"] == integers
    assert sum(rule["calls"] for rule in report["rules"]) == (2 + 1 + 1 + 1) * 4 * int(CALLS)


def test_codecs_of_missing_values_are_refused(tmp_path: Path) -> None:
    """Their frames are made by several kernels, slots by one: raw, and the log says why."""
    text = GROUPS.replace("blockq:bits=8", "blockq:bits=8,fill=auto")
    output, errors = run(
        PROGRAMS / "nccl_policy",
        CALLS,
        CODEC="szp:abs=1e-3,fill=nan",
        THRESHOLD="1KiB",
        POLICY=policy(tmp_path, text),
        REPORT=tmp_path / "report",
    )
    assert output == "ok\n"
    lines = errors.splitlines()
    assert len(lines) == 2, errors
    assert "THINWIRE_CODEC: szp:abs=0.001,fill=nan: slots take no codec with fill=" in lines[0]
    assert "THINWIRE_POLICY: blockq:bits=8,block=32,fill=auto: " in lines[1]
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    rules = by_name(report)
    assert rules["large gradients"]["compressed_calls"] == 0
    assert rules["messages"]["compressed_calls"] == 0
    assert rules["gradients"]["compressed_calls"] > 0


def test_what_no_rule_takes_is_as_without(tmp_path: Path) -> None:
    """Loss on one communicator alone, though the codec of all others is lossless."""
    only = GROUPS.split("[[rule]]")[1]
    output, errors = run(
        PROGRAMS / "nccl_policy",
        CALLS,
        CODEC="lorenzo",
        THRESHOLD="1KiB",
        POLICY=policy(tmp_path, "[[rule]]" + only),
        REPORT=tmp_path / "report",
    )
    assert (output, errors) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    assert min(coded(report, "tp0")) > 40
    assert by_name(report)["large gradients"]["compressed_calls"] > 4 * 20


def test_a_wrong_policy_is_named_once_and_loses_nothing(tmp_path: Path) -> None:
    path = policy(tmp_path, GROUPS + 'colour = "red"\n')
    output, errors = run(
        PROGRAMS / "nccl_policy",
        "20",
        CODEC="zfp:rate=16",
        POLICY=path,
        REPORT=tmp_path / "report",
    )
    assert output == "ok\n"
    assert errors.count("thinwire: ") == 1
    assert f"THINWIRE_POLICY: {path}:23: 'colour' is no key of a rule" in errors
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    assert report["codec"] == "off" and "rules" not in report


def run_ranks(
    path: Path, of_rank: list[dict[str, str]], *words: str, **settings: str
) -> tuple[list[dict], str]:
    """The ranks' reports, and what they log. Each has the settings of its own, too."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "RANKS": str(len(of_rank)), "RANKS_FILE": str(path / "id")}
    named = {"THRESHOLD": "1KiB", "FORCE": "1", "REPORT": str(path / "report")} | settings
    own |= {f"THINWIRE_{name}": value for name, value in named.items()}
    started = [
        Popen(
            [str(PROGRAMS / "nccl_policy"), *words],
            env=kept | own | each | {"RANK": str(rank)},
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank, each in enumerate(of_rank)
    ]
    ends = [each.communicate(timeout=120) for each in started]
    assert [output for output, _ in ends] == ["ok\n"] * len(of_rank), ends
    reports = [
        json.loads((path / f"report.nccl.rank{rank}").read_text()) for rank in range(len(of_rank))
    ]
    return reports, "".join(errors for _, errors in ends)


def test_ranks_of_different_policies_stay_raw(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(GROUPS.replace("bits=8", "bits=4"))
    one = {"THINWIRE_POLICY": str(policy(tmp_path, GROUPS))}
    reports, errors = run_ranks(
        tmp_path, [one, one, {"THINWIRE_POLICY": str(other)}], "40", CODEC="mpc", SAME_NODE="1"
    )
    assert errors.count("thinwire: ") == 1
    assert "raw: the policy is " in errors
    for report in reports:
        assert all(rule["compressed_calls"] == 0 for rule in report["rules"])
        for each in report["communicators"]:
            assert each["presence"].startswith("raw: ")
            if each["name"] == "dp0":
                raw = each["operations"]["AllReduce"]["raw_by_reason"]
                assert raw["peer without this Thinwire"] > 0
                assert sum(raw.values()) == 40


@pytest.mark.parametrize("pattern", ["dp0", "dp*"])
def test_names_that_differ_count_where_a_rule_tells_them_apart(
    pattern: str, tmp_path: Path
) -> None:
    path = policy(tmp_path, GROUPS.replace('"dp*"', f'"{pattern}"'))
    reports, errors = run_ranks(
        tmp_path,
        [{"THINWIRE_POLICY": str(path)}] * 3,
        CALLS,
        "by-rank",
        CODEC="mpc",
        SAME_NODE="1",
    )
    gradients = [by_name(report)["gradients"]["compressed_calls"] for report in reports]
    if pattern == "dp*":
        assert errors == "" and min(gradients) > 20
        return
    assert gradients == [0, 0, 0]
    assert errors.count("thinwire: ") == 1
    assert "the policy's rules for its name is " in errors
    assert "1,2,3 on rank 0" in errors


def test_messages_have_codecs_by_where_they_go(tmp_path: Path) -> None:
    nodes = [{"NCCL_HOSTID": f"node-{rank // 2}"} for rank in range(4)]
    reports, errors = run_ranks(
        tmp_path,
        nodes,
        CALLS,
        POLICY=str(policy(tmp_path, SPANS)),
        CODEC="off",
        SAME_NODE="1",
    )
    assert errors == ""
    for rank, report in enumerate(reports):
        rules = by_name(report)
        # Each sends to the next and receives from the one before.
        near, far = rules["near"], rules["far"]
        assert near["compressed_calls"] > 40 and far["compressed_calls"] > 40
        assert (near["bytes"] > 0, far["bytes"] > 0) == (rank % 2 == 0, rank % 2 == 1)
        assert near["calls"] + far["calls"] <= 2 * int(CALLS)
