"""NCCL programs on several nodes of several ranks: raw inside a node, compressed between nodes.

NCCL tells hosts apart by NCCL_HOSTID here as well; ranks are processes."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM, run

pytestmark = pytest.mark.multiproc

SAME_NODE = "peer on the same node"
NODES = {
    "2x2": [0, 0, 1, 1],
    "2x2 in turn": [0, 1, 0, 1],
    "2x4": [0, 0, 0, 0, 1, 1, 1, 1],
    "3x2": [0, 0, 1, 1, 2, 2],
    "uneven": [0, 0, 1],
    "uneven in turn": [0, 1, 0, 1, 0],
}


def run_on(
    nodes: list[int],
    words: list[str],
    path: Path,
    environments: list[dict[str, str]] | None = None,
    **settings: str,
) -> list[dict[str, dict]]:
    """Each rank's operations, of the communicators of all ranks that have made calls.

    `environments` has more variables of each rank's."""
    path.mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "RANKS": str(len(nodes)), "RANKS_FILE": str(path / "id")}
    own |= {"THINWIRE_THRESHOLD": "1KiB", "THINWIRE_REPORT": str(path / "report")}
    own |= {f"THINWIRE_{name}": value for name, value in settings.items()}
    started = [
        Popen(
            [str(PROGRAMS / words[0]), *words[1:]],
            env=kept
            | own
            | {"RANK": str(rank), "NCCL_HOSTID": f"node-{node}"}
            | (environments[rank] if environments else {}),
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank, node in enumerate(nodes)
    ]
    said = [each.communicate(timeout=240) for each in started]
    # If nothing is compressed the end says so.
    assert all(output == "ok\n" for output, _ in said), said
    assert all("compressed nothing by NCCL" in told for _, told in said if told), said
    reports = [
        json.loads((path / f"report.nccl.rank{rank}").read_text()) for rank in range(len(nodes))
    ]
    return [
        each["operations"]
        for report in reports
        for each in report["communicators"]
        if each["ranks"] == len(nodes) and each["operations"]
    ]


@pytest.mark.parametrize("name", NODES)
def test_every_operation_in_every_type(name: str, tmp_path: Path) -> None:
    nodes = NODES[name]
    # An average of five or six is off by a rounding.
    error = ["0"] if len(nodes) > 4 and len(nodes) != 8 else []
    used = run_on(nodes, ["nccl_every", "14", *error], tmp_path, CODEC="lossless")
    assert len(used) == 4 * len(nodes)
    for of in used:
        for operation in ("AllGather", "ReduceScatter", "AllReduce", "Broadcast", "AlltoAll"):
            assert of[operation]["compressed_calls"] > 20, (name, operation)
        assert of["AllReduce"]["wire_bytes"] < of["AllReduce"]["bytes"]


@pytest.mark.parametrize("name", ["2x2", "3x2", "uneven"])
def test_lossy_codecs_keep_their_bound_and_ranks_their_bits(name: str, tmp_path: Path) -> None:
    used = run_on(NODES[name], ["nccl_every", "14", "1"], tmp_path, CODEC="zfp:rate=16")
    assert sum(of["AllReduce"]["compressed_calls"] > 20 for of in used) == 2 * len(NODES[name])


@pytest.mark.parametrize("nodes", [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]])
# The last two have averages whose values have no finite sum.
@pytest.mark.parametrize("seed", [5, 2, 14])
def test_random_programs_come_to_the_same_bits(nodes: list[int], seed: int, tmp_path: Path) -> None:
    """Groups of all kinds, messages inside and between nodes, communicators that are split off."""
    nodes = nodes[: 2 + seed % 3]
    used = run_on(nodes, ["nccl_random", str(seed), "3000"], tmp_path, CODEC="lorenzo")
    assert sum(each["compressed_calls"] for of in used for each in of.values()) > 100


@pytest.mark.parametrize("nodes", [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 1], [0, 1, 1, 1]])
def test_sums_of_the_programs_own(nodes: list[int], tmp_path: Path) -> None:
    """In two levels, but on the last nodes. Some ranks have factors on the host, others in memory
    that the stream reads."""
    words = ["nccl_own_sums", "240", "mixed"]
    used = run_on(nodes, words, tmp_path, CODEC="lorenzo", FORCE="1")
    assert len(used) == len(nodes)
    for of in used:
        for operation in ("AllReduce", "ReduceScatter"):
            assert of[operation]["compressed_calls"] > 200, operation


def test_experts_on_two_nodes(tmp_path: Path) -> None:
    used = run_on(
        NODES["2x2"], ["nccl_experts", "steps", "300"], tmp_path, CODEC="lossless", FORCE="1"
    )
    for of in used:
        # Two of three peers are on the other node.
        assert of["Send"]["compressed_calls"] > 400
        assert of["Send"]["raw_by_reason"][SAME_NODE] > 500


NVML = PROGRAMS / "lib_nvml"
IN_DOMAIN = {"LD_LIBRARY_PATH": str(NVML), "FAKE_NVML": "3:7:1"}
# A rank's variables, and whether GPUs of two hosts are then of one node, if all ranks have these.
DOMAINS: dict[str, tuple[dict[str, str], bool]] = {
    "complete": (IN_DOMAIN, True),
    "not complete": (IN_DOMAIN | {"FAKE_NVML": "2:7:1"}, False),
    "of one host": (IN_DOMAIN | {"FAKE_NVML": "3:0:1"}, False),
    "named": (IN_DOMAIN | {"FAKE_NVML": "3:0:1", "NCCL_MNNVL_UUID": "0x12"}, True),
    "GPUs that differ": (IN_DOMAIN | {"FAKE_NVML": "3:7:1 3:7:2"}, False),
    "GPUs that a name makes alike": (
        IN_DOMAIN | {"FAKE_NVML": "3:7:1 3:7:2", "NCCL_MNNVL_CLIQUE_ID": "4"},
        True,
    ),
    "by rack": (IN_DOMAIN | {"NCCL_MNNVL_CLIQUE_ID": "-2"}, False),
    "off": (IN_DOMAIN | {"NCCL_MNNVL_ENABLE": "0"}, False),
    "on": (IN_DOMAIN | {"NCCL_MNNVL_ENABLE": "1", "NCCL_P2P_DISABLE": "1"}, True),
    "auto": (IN_DOMAIN | {"NCCL_MNNVL_ENABLE": "2"}, True),
    "without peers' memory": (IN_DOMAIN | {"NCCL_P2P_DISABLE": "1"}, False),
    "a level of none": (IN_DOMAIN | {"NCCL_P2P_LEVEL": "LOC"}, False),
    "without cuMem": (IN_DOMAIN | {"NCCL_CUMEM_ENABLE": "0"}, False),
    "an NVML that does not start": (IN_DOMAIN | {"FAKE_NVML_INIT": "9"}, False),
    "no NVML": ({}, False),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_hosts_of_an_nvlink_domain_are_one_node(name: str, tmp_path: Path) -> None:
    environment, is_one = DOMAINS[name]
    words = ["nccl_every", "5"]
    used = run_on([0, 1], words, tmp_path, [environment] * 2, CODEC="lossless")
    gathers = [of["AllGather"] for of in used if "AllGather" in of]
    assert len(gathers) > 0
    for each in gathers:
        assert (SAME_NODE in each["raw_by_reason"]) == is_one
        assert (each["trials"] + each["compressed_calls"] > 0) != is_one


def test_domains_of_two_hosts_each_go_in_two_levels(tmp_path: Path) -> None:
    """A part of a host is a node, as for NCCL, which takes a domain for one host."""
    cliques = [{"NCCL_MNNVL_CLIQUE_ID": str(clique)} for clique in (1, 1, 2, 2)]
    environments = [IN_DOMAIN | each for each in cliques]
    used = run_on([0, 1, 0, 1], ["nccl_every", "14"], tmp_path, environments, CODEC="lossless")
    for of in used:
        assert of["AllGather"]["compressed_calls"] > 20
        assert of["AllReduce"]["wire_bytes"] < of["AllReduce"]["bytes"]


def test_a_rank_without_a_domain_makes_hosts_the_nodes(tmp_path: Path) -> None:
    environments = [IN_DOMAIN, IN_DOMAIN | {"NCCL_MNNVL_ENABLE": "0"}]
    used = run_on([0, 1], ["nccl_every", "14"], tmp_path, environments, CODEC="lossless")
    assert all(of["AllGather"]["compressed_calls"] > 20 for of in used)


@pytest.mark.parametrize("named", ["0", "1"])
def test_one_node_is_raw_unless_named(named: str, tmp_path: Path) -> None:
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output = run(PROGRAMS / "nccl_coded", "200", SAME_NODE=named, **settings)
    assert output == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    assert len(report["communicators"]) == 4
    for communicator in report["communicators"]:
        for each in communicator["operations"].values():
            assert (each["trials"] + each["compressed_calls"] > 0) == (named == "1")
            assert (SAME_NODE in each["raw_by_reason"]) == (named == "0")


def test_ranks_that_differ_in_it_are_raw(tmp_path: Path) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(tmp_path / "id"), "RANKS": "2"}
    own |= {"THINWIRE_CODEC": "lossless", "THINWIRE_THRESHOLD": "1KiB"}
    started = [
        Popen(
            [str(PROGRAMS / "nccl_every"), "4"],
            env=kept | own | {"RANK": str(rank), "THINWIRE_SAME_NODE": str(rank)},
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [each.communicate(timeout=120) for each in started]
    assert [output for output, _ in said] == ["ok\n", "ok\n"]
    assert "what ranks of one node exchange is" in said[0][1] + said[1][1]
