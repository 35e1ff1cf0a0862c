"""Communicators beside each other under a codec that loses: they decide together, so that ranks
which have the same gradients keep the same bits."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM, without_silence

pytestmark = pytest.mark.multiproc

UNKNOWN = "siblings not known"
CALLS = 220
# The first column's link is slow, so that a smaller sum is a faster one; the second's is not, and
# its codec is.
SLOW_LINK = {"FAKE_NCCL_RATE": "2e7"}
SLOW_CODEC = {"FAKE_NCCL_FUNCTION_US": "4000"}


def run(
    way: str, folder: Path, columns: list[dict[str, str]], ranks: int = 4, **settings: str
) -> tuple[list[str], list[dict]]:
    """What each rank prints, and what each says of the column's sums."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(folder / "id"), "WORLD_SIZE": str(ranks)}
    own["RANKS"] = str(ranks)
    named = {"CODEC": "zfp:rate=16", "THRESHOLD": "1KiB", "SAME_NODE": "1"}
    named |= {"REPORT": str(folder / "report")} | settings
    own |= {f"THINWIRE_{name}": value for name, value in named.items()}
    started = [
        Popen(
            [str(PROGRAMS / "nccl_mesh"), str(CALLS), way],
            env=kept | own | columns[rank % 2] | {"RANK": str(rank)},
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    said = [each.communicate(timeout=240) for each in started]
    assert [without_silence(errors) for _, errors in said] == [""] * ranks
    # A rank that made no call writes none.
    paths = [folder / f"report.nccl.rank{rank}" for rank in range(ranks)]
    reports = [json.loads(path.read_text()) for path in paths if path.exists()]
    sums = [
        each["operations"]["AllReduce"]
        for report in reports
        for each in report["communicators"]
        if "AllReduce" in each["operations"]
    ]
    return [output for output, _ in said], sums


@pytest.mark.parametrize("way", ["split", "singles", "ids"])
def test_replicas_keep_their_bits_whatever_each_group_would_find(way: str, tmp_path: Path) -> None:
    outputs, sums = run(way, tmp_path, [SLOW_LINK, SLOW_CODEC])
    # Also which calls they are.
    assert outputs == outputs[:1] * 4
    assert outputs[0].startswith("ok: ")
    assert len({of["compressed_calls"] for of in sums}) == 1
    assert sums[0]["compressed_calls"] >= 8, "they were timed"
    # Calls that were not raw for being timed went as was decided then.
    assert len({of["raw_by_reason"].get("faster raw, as timed") for of in sums}) == 1


def test_a_group_without_siblings_is_raw_and_says_so(tmp_path: Path) -> None:
    outputs, sums = run("one", tmp_path, [SLOW_LINK, {}])
    exact = [CALLS, 0]
    assert outputs == [f"ok: {exact[rank % 2]} exact, the first other -1\n" for rank in range(4)]
    assert len(sums) == 2
    for of in sums:
        assert of["compressed_calls"] == 0
        assert of["raw_by_reason"][UNKNOWN] > CALLS // 2


NAMED = """\
[[rule]]
communicator = "col*"
siblings = {siblings}
codec = "zfp:rate=16"

[[rule]]
codec = "zfp:rate=16"
"""


def policy(folder: Path, siblings: int) -> str:
    path = folder / "policy.toml"
    path.write_text(NAMED.format(siblings=siblings))
    return str(path)


def test_siblings_are_what_a_policy_names(tmp_path: Path) -> None:
    """By the order in which ranks make communicators these two would be no siblings."""
    outputs, sums = run(
        "named", tmp_path, [SLOW_LINK, SLOW_CODEC], POLICY=policy(tmp_path, siblings=2)
    )
    assert outputs == outputs[:1] * 4
    assert outputs[0].startswith("ok: ")
    assert len({of["compressed_calls"] for of in sums}) == 1
    assert sums[0]["compressed_calls"] >= 8, "they were timed"


def test_lossless_sums_of_named_siblings_are_decided_on_together(tmp_path: Path) -> None:
    """Of three ranks and more, as they are added in another order than NCCL's."""
    path = tmp_path / "policy.toml"
    path.write_text(NAMED.format(siblings=2).replace("zfp:rate=16", "lossless"))
    columns = [SLOW_LINK, SLOW_CODEC]
    outputs, sums = run("named", tmp_path, columns, ranks=6, CODEC="lossless", POLICY=str(path))
    assert all(output.startswith("ok: ") for output in outputs)
    assert len(sums) == 6
    assert len({of["compressed_calls"] for of in sums}) == 1
    assert len({of["raw_by_reason"].get("faster raw, as timed") for of in sums}) == 1
    assert sums[0]["compressed_calls"] >= 8, "they were timed"


def test_a_group_that_a_policy_calls_alone_decides_alone(tmp_path: Path) -> None:
    _, sums = run("alone", tmp_path, [SLOW_LINK, {}], POLICY=policy(tmp_path, siblings=1))
    assert len(sums) == 2
    for of in sums:
        assert of["compressed_calls"] >= 8
        assert UNKNOWN not in of["raw_by_reason"]


@pytest.mark.parametrize("settings", [{"FORCE": "1"}, {"CODEC": "lorenzo"}])
def test_what_is_forced_or_loses_nothing_needs_none(
    settings: dict[str, str], tmp_path: Path
) -> None:
    _, sums = run("one", tmp_path, [SLOW_LINK, {}], **settings)
    for of in sums:
        assert of["compressed_calls"] > 40
        assert UNKNOWN not in of["raw_by_reason"]


def test_a_program_that_waits_for_each_call_learns(tmp_path: Path) -> None:
    """Nothing is under way while it enqueues a call, which takes a busy processor long."""
    busy = {"FAKE_NCCL_ENQUEUE_US": "3000"}
    _, sums = run("one", tmp_path, [SLOW_LINK | busy, {}], CODEC="lorenzo")
    for of in sums:
        assert of["raw_by_reason"]["being timed, raw and compressed"] < 100
        assert of["compressed_calls"] > 40
