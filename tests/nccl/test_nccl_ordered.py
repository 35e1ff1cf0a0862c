"""Sums of NCCL programs in the order of the ranks: the bits of a loop over the ranks from the first
call on, over a libnccl that adds the other way round.

The program compares every result with that loop, so that runs that pass have equal bits."""

import json
import os
import subprocess
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from test_nccl_shim import PROGRAMS, SHIM

pytestmark = pytest.mark.multiproc

ORDERED = "lossless:reductions=ordered"
EXACT = "lossless:reductions=exact"
BACKWARDS = {"FAKE_NCCL_SUMS": "backwards"}
# Sums of one step of the program.
SUMS = {"AllReduce": 3, "ReduceScatter": 1, "Reduce": 1}


def run(
    folder: Path,
    nodes: list[int],
    words: list[str],
    environments: dict[int, dict[str, str]] | None = None,
    more: dict[str, str] = BACKWARDS,
    program: str = "nccl_ordered",
    **settings: str,
) -> tuple[list[str], str, list[dict[str, Any]]]:
    """What each rank prints, what all say on standard error, and their reports of the communicator
    that has made calls. `environments`: variables of some ranks alone; `more`: of all."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "RANKS": str(len(nodes)), "RANKS_FILE": str(folder / "id")}
    named = {"CODEC": ORDERED, "THRESHOLD": "1KiB", "REPORT": str(folder / "report")} | settings
    own |= {f"THINWIRE_{name}": value for name, value in named.items()} | more
    started = [
        Popen(
            [str(PROGRAMS / program), *words],
            env=kept
            | own
            | {"RANK": str(rank), "NCCL_HOSTID": f"node-{node}"}
            | (environments or {}).get(rank, {}),
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank, node in enumerate(nodes)
    ]
    said = [each.communicate(timeout=240) for each in started]
    found = []
    for rank in range(len(nodes)):
        path = folder / f"report.nccl.rank{rank}"
        report = json.loads(path.read_text()) if path.exists() else {"communicators": []}
        found += [each for each in report["communicators"] if each["operations"]]
    return [output for output, _ in said], "".join(errors for _, errors in said), found


def expect_in_order(
    outcome: tuple[list[str], str, list[dict[str, Any]]], steps: int, sums: dict[str, int] = SUMS
) -> int:
    """Every sum of every rank is in order; how many are compressed."""
    outputs, errors, reports = outcome
    assert set(outputs) == {"ok\n"}, (outputs, errors)
    assert len(reports) == len(outputs)
    for report in reports:
        for name, each in sums.items():
            counted = report["operations"][name]
            assert counted["calls"] == counted["in_rank_order"] == steps * each
            assert counted["out_of_rank_order"] == 0
            raw = sum(counted["raw_by_reason"].values())
            assert counted["compressed_calls"] + raw == counted["calls"]
    compressed = [
        sum(of["compressed_calls"] for of in report["operations"].values()) for report in reports
    ]
    assert len(set(compressed)) == 1
    return compressed[0]


def test_nccl_adds_in_another_order(tmp_path: Path) -> None:
    """As the library does, if nothing else is said."""
    for name, words in (("raw", {"DISABLE": "1"}), ("coded", {"CODEC": "lossless"})):
        folder = tmp_path / name
        folder.mkdir()
        outputs, errors, _ = run(folder, [0, 0, 1, 1], ["1"], **words)
        assert set(outputs) == {"failed\n"}
        assert "wrong: ReduceScatter of type" in errors


@pytest.mark.parametrize(
    "nodes",
    [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 0, 1], [0, 0, 0, 1], [0, 0, 1], [0, 1]],
    ids=lambda nodes: "".join(str(node) for node in nodes),
)
def test_the_bits_are_those_of_a_loop_on_any_nodes(nodes: list[int], tmp_path: Path) -> None:
    compressed = expect_in_order(run(tmp_path, nodes, ["150"], FORCE="1"), 150)
    assert (compressed > 200) == (len(set(nodes)) > 1)


@pytest.mark.parametrize("nodes", [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2], [0, 1]], ids=str)
def test_exact_sums_are_those_of_the_values(nodes: list[int], tmp_path: Path) -> None:
    """Averages are the mean of the exact total, pre-multiplied sums are of rounded products."""
    outcome = run(tmp_path, nodes, ["60", "exact"], FORCE="1", CODEC=EXACT)
    assert (expect_in_order(outcome, 60) > 80) == (len(set(nodes)) > 1)


def test_sums_in_order_are_not_exact(tmp_path: Path) -> None:
    outputs, errors, _ = run(tmp_path, [0, 0, 1, 1], ["12", "exact"])
    assert set(outputs) == {"failed\n"}
    assert "wrong: AllReduce of type" in errors


@pytest.mark.parametrize(
    "words", [["grouped"], ["split"], ["captured"], ["late"], ["large"]], ids=lambda each: each[0]
)
@pytest.mark.parametrize("blocks", ["0", "1"])
def test_exact_sums_in_groups_parts_and_graphs(
    words: list[str], blocks: str, tmp_path: Path
) -> None:
    if words == ["captured"] and blocks == "0":
        pytest.skip("the program captures calls that block")
    more = BACKWARDS | {"NCCL_COMM_BLOCKING": blocks}
    steps = 2 if words == ["large"] else 40
    given = [str(steps), "exact", *words]
    expect_in_order(run(tmp_path, [0, 0, 1, 1], given, more=more, FORCE="1", CODEC=EXACT), steps)


def test_products_are_not_exact_and_named(tmp_path: Path) -> None:
    outcome = run(tmp_path, [0, 0, 1, 1], ["3", "exact", "others"], CODEC=EXACT)
    assert set(outcome[0]) == {"ok\n"}, outcome[1]
    assert outcome[1].count("reductions=exact: a sum of NCCL's is not exact: cannot be added") == 1
    for report in outcome[2]:
        assert report["operations"]["AllReduce"]["out_of_rank_order"] == 3


def test_ranks_that_differ_in_exactness_leave_sums_to_nccl(tmp_path: Path) -> None:
    other = {2: {"THINWIRE_CODEC": ORDERED}}
    settings = {"CODEC": EXACT, "TEST_REGISTRATION": "4"}
    outputs, errors, reports = run(tmp_path, [0, 0, 1, 1], ["3"], other, {}, **settings)
    assert set(outputs) == {"ok\n"}, errors
    assert all(report["presence"].startswith("raw: ") for report in reports)


def test_links_and_late_ranks_change_nothing(tmp_path: Path) -> None:
    """Here it is timed whether compressing pays, raw and compressed."""
    for rate in ("", "20000000"):
        folder = tmp_path / f"at{rate}"
        folder.mkdir()
        more = BACKWARDS | ({"FAKE_NCCL_RATE": rate} if rate else {})
        outcome = run(folder, [0, 0, 1, 1], ["120", "late"], more=more)
        assert expect_in_order(outcome, 120) > 0
        timed = [of["raw_by_reason"] for of in outcome[2][0]["operations"].values()]
        assert any(reasons.get("being timed, raw and compressed", 0) > 0 for reasons in timed)


@pytest.mark.parametrize("words", [["grouped"], ["split"], ["captured"], ["grouped", "split"]])
def test_groups_parts_and_graphs_are_in_order(words: list[str], tmp_path: Path) -> None:
    compressed = expect_in_order(run(tmp_path, [0, 0, 1, 1], ["120", *words], FORCE="1"), 120)
    assert (compressed > 200) == ("captured" not in words)


@pytest.mark.parametrize("force", ["0", "1"])
def test_trees_alone_are_no_obstacle(force: str, tmp_path: Path) -> None:
    """NCCL has none for the gathers that the library makes in a program's AllReduce."""
    more = BACKWARDS | {"NCCL_ALGO": "Tree"}
    expect_in_order(run(tmp_path, [0, 0, 1, 1], ["60"], more=more, FORCE=force), 60)


@pytest.mark.parametrize("words", [[], ["grouped"], ["split"]])
def test_calls_that_do_not_block_are_in_order(words: list[str], tmp_path: Path) -> None:
    more = BACKWARDS | {"NCCL_COMM_BLOCKING": "0"}
    outcome = run(tmp_path, [0, 0, 1, 1], ["120", *words], more=more, FORCE="1")
    assert expect_in_order(outcome, 120) > 200


@pytest.mark.parametrize("blocks", ["0", "1"])
def test_large_sums_are_added_in_parts(blocks: str, tmp_path: Path) -> None:
    more = BACKWARDS | {"NCCL_COMM_BLOCKING": blocks}
    expect_in_order(run(tmp_path, [0, 0, 1, 1], ["2", "large"], more=more), 2)


@pytest.mark.parametrize("blocks", ["0", "1"])
@pytest.mark.parametrize("nodes", [[0, 0, 1], [0, 0, 0]], ids=["two nodes", "one node"])
def test_a_group_of_one_sum_has_the_exchanges_of_the_sum(
    nodes: list[int], blocks: str, tmp_path: Path
) -> None:
    """Rank 0 alone makes groups; the sums are so large that they are added in parts."""
    more = BACKWARDS | {"NCCL_COMM_BLOCKING": blocks}
    once = {"AllReduce": 1, "ReduceScatter": 1, "Reduce": 1}
    outcome = run(tmp_path, nodes, ["4200000"], more=more, program="nccl_single_groups")
    assert expect_in_order(outcome, 1, once) == 0


def test_what_the_program_asks_of_nccls_kernels_counts_less(tmp_path: Path) -> None:
    """A policy that uses no processors of the GPU leaves sums without an order to NCCL."""
    more = BACKWARDS | {"NCCL_CTA_POLICY": "ZERO"}
    assert expect_in_order(run(tmp_path, [0, 0, 1, 1], ["120"], more=more, FORCE="1"), 120) > 100


def test_what_has_no_order_is_nccls_and_a_product_is_named(tmp_path: Path) -> None:
    outputs, errors, reports = run(tmp_path, [0, 0, 1, 1], ["3", "others"])
    assert set(outputs) == {"ok\n"}, errors
    said = "reductions=ordered: a sum of NCCL's is not in the order of the ranks: cannot be added"
    assert errors.count(said) == 1
    for report in reports:
        counted = report["operations"]["AllReduce"]
        assert (counted["calls"], counted["in_rank_order"]) == (18, 9)
        assert counted["out_of_rank_order"] == 3
        assert counted["raw_by_reason"]["cannot be added in the order of the ranks"] == 3


@pytest.mark.parametrize(
    ("of_rank_2", "why"),
    [
        ({"THINWIRE_CODEC": "lossless"}, f"{ORDERED} on rank"),
        ({"THINWIRE_DISABLE": "1", "LD_PRELOAD": ""}, "1 of 4 ranks lacks it"),
        ({"FAKE_GPU_BYTES": str(32 << 20)}, "the order of the ranks need is"),
    ],
    ids=["without the setting", "without the library", "without memory"],
)
def test_one_rank_that_cannot_makes_all_native(
    of_rank_2: dict[str, str], why: str, tmp_path: Path
) -> None:
    """Here NCCL adds in the order of the ranks, so that the program finds nothing wrong."""
    settings = {"TEST_REGISTRATION": "4"}
    outputs, errors, reports = run(tmp_path, [0, 0, 1, 1], ["3"], {2: of_rank_2}, {}, **settings)
    assert set(outputs) == {"ok\n"}, errors
    said = "reductions=ordered: a sum of NCCL's is not in the order of the ranks"
    assert why in errors and said in errors
    for report in reports:
        assert report["presence"].startswith("raw: ")
        for name, each in SUMS.items():
            counted = report["operations"][name]
            assert counted["calls"] == 3 * each and counted["compressed_calls"] == 0
            if report["rank"] == 2 and "THINWIRE_CODEC" in of_rank_2:
                assert "in_rank_order" not in counted
            else:
                assert counted["out_of_rank_order"] == 3 * each
                assert counted["in_rank_order"] == 0


@pytest.mark.parametrize("blocks", ["1", "0"])
def test_memory_that_is_refused_once_makes_no_sum_native(blocks: str, tmp_path: Path) -> None:
    """A call may fail in an orderly way, or it is in order."""
    refused = PROGRAMS / "libnccl_refuse.so"
    own = {"LD_PRELOAD": f"{refused}:{SHIM}", "NCCL_COMM_BLOCKING": blocks}
    settings = {"CODEC": ORDERED, "THRESHOLD": "1KiB", "FORCE": "1", "SAME_NODE": "1"}
    words = [PROGRAMS / "nccl_refused", "calls" if blocks == "1" else "groups", "60"]
    for piece in range(11, 1400, 97):
        path = tmp_path / str(piece)
        named = settings | {"REPORT": str(path)}
        own |= {f"THINWIRE_{name}": value for name, value in named.items()}
        env = os.environ | own | {"REFUSE_MEMORY": str(piece)}
        done = subprocess.run(words, env=env, timeout=60, capture_output=True, text=True)
        assert done.stdout in ("ok\n", "refused\n"), done.stderr
        if done.stdout == "refused\n":
            continue
        report = json.loads(Path(f"{path}.nccl.rank0").read_text())
        for communicator in report["communicators"]:
            for counted in communicator["operations"].values():
                assert counted.get("out_of_rank_order", 0) == 0, piece


def test_a_policy_orders_sums_alone(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    sums = '[[rule]]\noperation = ["allreduce", "reduce-scatter", "reduce"]\n'
    policy.write_text(f'{sums}codec = "{ORDERED}"\n')
    outcome = run(tmp_path, [0, 0, 1, 1], ["120"], CODEC="off", POLICY=str(policy), FORCE="1")
    assert expect_in_order(outcome, 120) > 200


@pytest.mark.parametrize("nodes", [[0, 0, 0], [0, 1, 2]], ids=["one node", "three nodes"])
@pytest.mark.parametrize("side", ["within-node", "between-nodes"])
@pytest.mark.parametrize("rule", [ORDERED, "off"], ids=["ordered", "off"])
def test_the_side_of_the_ranks_decides(
    rule: str, side: str, nodes: list[int], tmp_path: Path
) -> None:
    """A rule of one side, and the other codec where it does not hold."""
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[[rule]]\nspan = "{side}"\ncodec = "{rule}"\n')
    is_of_rule = (side == "within-node") == (nodes == [0, 0, 0])
    is_ordered = is_of_rule == (rule == ORDERED)
    usual = "off" if rule == ORDERED else ORDERED
    more = BACKWARDS if is_ordered else {}
    steps = 30 if is_ordered else 3  # of sums alone, which the library adds in order then
    outcome = run(tmp_path, nodes, [str(steps)], more=more, CODEC=usual, POLICY=str(policy))
    if is_ordered:
        expect_in_order(outcome, steps)
        return
    assert set(outcome[0]) == {"ok\n"}
    assert "reductions=ordered:" not in outcome[1]
    for report in outcome[2]:
        for name, each in SUMS.items():
            counted = report["operations"][name]
            assert counted["calls"] == steps * each
            assert counted.get("in_rank_order", 0) == counted.get("out_of_rank_order", 0) == 0


def test_a_part_without_the_first_rank_says_that_it_has_no_order(tmp_path: Path) -> None:
    words = ["1000", "part"]
    outputs, errors, _ = run(tmp_path, [0, 0, 1], words, program="nccl_single_groups")
    assert set(outputs) == {"ok\n"}
    said = "reductions=ordered: a sum of NCCL's is not in the order of the ranks: cannot be added"
    assert errors.count(said) == 1
