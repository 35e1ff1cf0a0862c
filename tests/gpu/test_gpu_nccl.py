"""NCCL programs under the preload library on one GPU: ranks are processes that share it."""

import json
import os
from pathlib import Path

import nccl_job
import pytest
from test_gpu_programs import program

ROUNDS = 14
# Types in the order of the program's communicators.
TYPES = ("fp32", "bf16", "fp16", "fp64")

# A codec, the types that it takes, what a value of up to 512 may be off each time (none: exact),
# and ranks.
CODECS = [
    ("lossless", TYPES, None, 2),
    ("lossless", TYPES, None, 3),
    ("lossless", TYPES, None, 4),
    ("expack", ("fp32", "bf16", "fp16"), None, 2),
    ("mpc", ("fp32", "fp64"), None, 2),
    ("zfp:rate=16", ("fp32", "fp64"), "1", 2),
    ("szp:abs=0.05", ("fp32", "fp64"), "0.051", 2),
    ("blockq", ("fp32", "bf16", "fp16"), "4.1", 2),
]


def settings(codec: str, **more: str) -> dict[str, str]:
    own = {"THINWIRE_CODEC": codec, "THINWIRE_THRESHOLD": "1KiB", "THINWIRE_FORCE": "1"}
    return own | more


@pytest.mark.parametrize(("codec", "types", "error", "ranks"), CODECS)
def test_every_operation_in_every_type(
    codec: str, types: tuple[str, ...], error: str | None, ranks: int, tmp_path: Path
) -> None:
    words = [program("nccl_every_gpu"), str(ROUNDS), *filter(None, [error])]
    job = nccl_job.run(words, ranks, tmp_path, settings(codec))
    assert [rank.output for rank in job.ranks] == ["ok\n"] * ranks, job.said()
    for rank in range(ranks):
        by_type = dict(zip(TYPES, job.communicators(rank), strict=True))
        for dtype, communicator in by_type.items():
            assert communicator["presence"].startswith(f"all {ranks} ranks ha")
            for name in nccl_job.OPERATIONS:
                figures = communicator["operations"][name]
                # Above two ranks it is for smaller blocks than all of these are.
                if name == "Reduce" and ranks > 2 and error is None:
                    continue
                # A few rounds of a type; natively if the codec does not take it.
                least = 20 if dtype in types else 0
                assert (figures["compressed_calls"] >= max(least, 1)) == (dtype in types), (
                    rank,
                    dtype,
                    name,
                    figures,
                )
    if error is None:
        assert job.total("spilled_blocks") > 0


@pytest.mark.parametrize("codec", ["lossless", "expack"])
def test_8_bit_floats_are_moved_and_not_added(codec: str, tmp_path: Path) -> None:
    job = nccl_job.run([program("nccl_float8_gpu"), "150"], 2, tmp_path, settings(codec))
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 2, job.said()
    for rank in range(2):
        found = job.communicators(rank)[0]["operations"]
        for name in ("AllGather", "Broadcast", "Send", "Recv"):
            assert found[name]["compressed_calls"] > 20, (rank, name, found[name])
        assert found["AllReduce"]["compressed_calls"] == 0


# Ranks of a program are 2 more than its seed's remainder by 3.
@pytest.mark.parametrize(
    ("seed", "calls", "more"),
    [
        (3, 10_000, {}),
        (4, 1000, {}),
        (5, 1000, {}),
        (6, 1500, {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}),
        (9, 1500, {"NCCL_LAUNCH_ORDER_IMPLICIT": "1"}),
        (10, 1500, {"NCCL_COMM_BLOCKING": "0"}),
    ],
)
def test_random_programs(seed: int, calls: int, more: dict[str, str], tmp_path: Path) -> None:
    words = [program("nccl_random_gpu"), str(seed), str(calls)]
    ranks = 2 + seed % 3
    job = nccl_job.run(words, ranks, tmp_path, settings("lossless", **more), seconds=150)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * ranks, job.said()
    assert job.total("compressed_calls") > calls / 50


def run_ok(words: list[str], ranks: int, folder: Path, codec: str = "lossless", **more: str):
    job = nccl_job.run(words, ranks, folder, settings(codec, **more))
    assert [rank.output for rank in job.ranks] == ["ok\n"] * ranks, job.said()
    return job


@pytest.mark.parametrize(("codec", "ranks"), [("lossless", 2), ("expack", 3)])
def test_weights_against_those_of_the_step_before(codec: str, ranks: int, tmp_path: Path) -> None:
    job = run_ok(
        [program("nccl_references_gpu"), "120"], ranks, tmp_path, codec, THINWIRE_REFERENCES="16MiB"
    )
    for rank in range(ranks):
        for name in ("AllGather", "Broadcast"):
            figures = job.communicators(rank)[0]["operations"][name]
            assert figures["compressed_calls"] > 300, (rank, name, figures)
            assert figures["difference_bytes"] > figures["compressed_calls"] * 60_000


@pytest.mark.parametrize(("seed", "more"), [(3, {}), (10, {"NCCL_COMM_BLOCKING": "0"})])
def test_random_programs_with_references(seed: int, more: dict[str, str], tmp_path: Path) -> None:
    words = [program("nccl_random_gpu"), str(seed), "2000"]
    own = {"THINWIRE_REFERENCES": "4MiB"} | more
    job = run_ok(words, 2 + seed % 3, tmp_path, **own)
    assert job.total("compressed_calls") > 40


@pytest.mark.gpu_alone
def test_calls_are_timed_on_the_stream(tmp_path: Path) -> None:
    """By the GPU's clock, also those of groups; what is found is the same on all ranks."""
    words = [program("nccl_random_gpu"), "3", "6000"]
    own = settings("lossless", THINWIRE_FORCE="0")
    job = nccl_job.run(words, 2, tmp_path, own, seconds=150)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 2, job.said()
    found = [[each["timed"] for each in job.communicators(rank)] for rank in range(2)]
    of_all = [each for of_rank in found for of_communicator in of_rank for each in of_communicator]
    assert of_all
    for each in of_all:
        # Between a kernel's launch and a late rank.
        assert 2e3 < each["raw_nanoseconds"] < 1e9, each
        assert 2e3 < each["compressed_nanoseconds"] < 1e9, each
        gains = (
            each["compressed_nanoseconds"] < 0.95 * each["raw_nanoseconds"]
            and each["compressed_mean_nanoseconds"] <= each["raw_mean_nanoseconds"]
        )
        assert each["probations"] > 1 or (each["way"] == "compressed") == gains, each
    messages = ("Send", "Recv")
    of_ranks = [
        sorted(str(each) for each in of_rank[0] if each["operation"] not in messages)
        for of_rank in found
    ]
    assert of_ranks[0] == of_ranks[1]


def by_operation(job: nccl_job.Job, rank: int, what: str, name: str) -> list[int]:
    """A figure of each communicator that has made such calls."""
    of_all = [each["operations"] for each in job.communicators(rank)]
    return [each[name][what] for each in of_all if name in each]


@pytest.mark.parametrize("where", ["memory", "mixed"])
def test_pre_multiplied_sums(where: str, tmp_path: Path) -> None:
    """Factors that a stream reads, on some ranks or on all."""
    job = run_ok([program("nccl_own_sums_gpu"), "80", where], 4, tmp_path)
    assert job.total("compressed_calls", "AllReduce") > 100
    assert job.total("compressed_calls", "ReduceScatter") > 100


@pytest.mark.parametrize("more", [{}, {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}], ids=["", "one queue"])
def test_a_host_that_is_a_thousand_calls_ahead(more: dict[str, str], tmp_path: Path) -> None:
    job = run_ok([program("nccl_load_gpu"), "ahead"], 2, tmp_path, **more)
    for rank in job.ranks:
        print(rank.errors.strip())
    for rank in range(2):
        for name in ("AllGather", "AllReduce"):
            spilled = by_operation(job, rank, "spilled_blocks", name)
            # Each of both communicators has 250 calls: a change of the class comes 64 later.
            assert len(spilled) == 2 and min(spilled) >= 50, spilled


@pytest.mark.gpu_alone
def test_64_busy_streams(tmp_path: Path) -> None:
    job = run_ok([program("nccl_load_gpu"), "streams"], 2, tmp_path)
    for rank in range(2):
        for name in ("AllGather", "AllReduce"):
            coded = by_operation(job, rank, "compressed_calls", name)
            assert len(coded) == 2 and min(coded) >= 40, coded
    assert job.total("spilled_blocks") > 0


@pytest.mark.gpu_alone
@pytest.mark.parametrize("codec", ["lossless", "lorenzo"])
@pytest.mark.parametrize("way", ["groups", "streams", "larger"])
def test_calls_succeed_when_the_gpu_is_full(way: str, codec: str, tmp_path: Path) -> None:
    """Its memory is both ranks'; the last one takes all of it."""
    words = [program("nccl_memory_gpu"), way]
    job = nccl_job.run(words, 2, tmp_path, settings(codec), seconds=120)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 2, job.said()
    short = [
        each["operations"]["AllGather"] for rank in range(2) for each in job.communicators(rank)
    ]
    assert all(each["compressed_calls"] > 50 for each in short)
    for each in short:
        assert (each["raw_by_reason"].get("out of memory", 0) > 0) == (way != "groups"), each
    warned = "".join(rank.errors for rank in job.ranks).count("no memory on its GPU")
    assert (warned > 0) == (way != "groups")


def test_a_mixture_of_experts(tmp_path: Path) -> None:
    """1000 steps of parts that change at each, some of no rows: less than one in 100 spills."""
    job = nccl_job.run(
        [program("nccl_experts_gpu"), "steps", "1000"],
        4,
        tmp_path,
        settings("lossless"),
        seconds=300,
    )
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 4, job.said()
    compressed = job.total("compressed_calls", "Send")
    spilled = job.total("spilled_blocks", "Send")
    print(f"{compressed} messages compressed, {spilled} spilled, {job.seconds:.1f} s")
    assert compressed > 16_000
    assert spilled < compressed / 100


def test_groups_of_several_communicators(tmp_path: Path) -> None:
    """By one thread, with reductions that the program ends before the group."""
    job = run_ok([program("nccl_experts_gpu"), "several", "150"], 4, tmp_path)
    for rank in range(4):
        for name in ("AllReduce", "Reduce", "Send"):
            coded = by_operation(job, rank, "compressed_calls", name)
            assert len(coded) == 2 and min(coded) > 40, (name, coded)


@pytest.mark.parametrize("blocks", ["1", "0"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_group_on_several_streams(ranks: int, blocks: str, tmp_path: Path) -> None:
    """Which wait for each other before it and after it."""
    words = [program("nccl_joined_gpu"), "200", str(ranks)]
    job = run_ok(words, ranks, tmp_path, NCCL_COMM_BLOCKING=blocks)
    assert job.total("compressed_calls") > 100


@pytest.mark.parametrize("way", ["abort", "abort-spilling", "refuse"])
def test_programs_that_end_while_calls_are_under_way(way: str, tmp_path: Path) -> None:
    job = run_ok([program("nccl_ends_gpu"), way], 3, tmp_path, "mpc", THINWIRE_LOG="error")
    for rank in range(3):
        assert min(by_operation(job, rank, "compressed_calls", "AllGather")) > 0


# Under a codec of fixed size a captured call is compressed as the eager ones are, at each replay.
@pytest.mark.parametrize(
    ("codec", "words"),
    [
        ("blockq", ("100",)),
        # After the first odd turn ranks agree to leave what is not in a graph raw.
        ("blockq", ("15", "odd", "after")),
        ("zfp:rate=16", ("15", "odd")),
        ("lossless", ("20", "exact", "after")),
    ],
)
def test_calls_in_graphs(codec: str, words: tuple[str, ...], tmp_path: Path) -> None:
    job = run_ok([program("nccl_graphs_gpu"), *words], 2, tmp_path, codec)
    for rank in range(2):
        (communicator,) = job.communicators(rank)
        for name in ("AllGather", "AllReduce", "ReduceScatter", "Send", "Recv"):
            figures = communicator["operations"][name]
            assert figures["compressed_calls"] > 40
            # Counted once each, when they are captured.
            raw = figures["raw_by_reason"].get("captured into a graph", 0)
            assert raw == (3 if codec == "lossless" else 0)
            others = sum(figures["raw_by_reason"].values())
            assert figures["compressed_calls"] == figures["calls"] - others
    if "odd" in words:
        # In a fifth of the turns by each of the three graphs, and eagerly until ranks agree on raw.
        assert 3 * 3 < job.total("spilled_blocks", "AllGather") <= 3 * 4
    else:
        assert codec == "lossless" or job.total("spilled_blocks") == 0


@pytest.mark.parametrize("codec", ["lossless", "szp:abs=1e-3"])
def test_every_codec_in_graphs_if_asked_for(codec: str, tmp_path: Path) -> None:
    words = [program("nccl_graphs_gpu"), "20", *(["exact"] if codec == "lossless" else [])]
    job = run_ok(words, 2, tmp_path, codec, THINWIRE_GRAPHS="1")
    for rank in range(2):
        (communicator,) = job.communicators(rank)
        for name in ("AllGather", "AllReduce", "ReduceScatter", "Send", "Recv"):
            figures = communicator["operations"][name]
            assert "captured into a graph" not in figures["raw_by_reason"]
            assert figures["spilled_at_replays"] == 0
    rough = [program("nccl_graphs_gpu"), "60", "rough"]
    job = run_ok(rough, 2, tmp_path / "rough", codec, THINWIRE_GRAPHS="1")
    assert job.total("spilled_at_replays", "AllGather") == 60 // 5 * 3 * 2


@pytest.mark.gpu_alone
@pytest.mark.several_gpus
def test_replays_of_a_large_sum(tmp_path: Path) -> None:
    """Between GPUs of a node that do not reach each other's memory: what compression gains, and
    that nothing of it is lost in a graph."""
    if len(nccl_job.visible(os.environ)) < 2:
        pytest.skip("too few GPUs for a node")
    more = {"NCCL_P2P_DISABLE": "1", "THINWIRE_SAME_NODE": "1"}
    words = [program("nccl_graph_time_gpu"), "64", "9"]
    job = nccl_job.run(words, 2, tmp_path, settings("blockq", **more), nodes=(0, 0))
    for rank in job.ranks:
        print(rank.output.strip())
        found = json.loads(rank.output)
        assert found["equal"] and found["error"] < 0.02
        assert found["raw_replayed"] >= 2 * found["compressed_replayed"], found
        assert found["compressed_replayed"] <= 1.02 * found["compressed"], found


def test_a_rank_without_the_library(tmp_path: Path) -> None:
    words = [program("nccl_every_gpu"), "4"]
    job = nccl_job.run(words, 2, tmp_path, settings("lossless"), without=(1,))
    assert [rank.output for rank in job.ranks] == ["ok\n"] * 2, job.said()
    for communicator in job.communicators(0):
        # The program is over before the others would be given up.
        assert communicator["presence"].startswith(("not known yet who has it", "raw: "))
        for figures in communicator["operations"].values():
            assert figures["compressed_calls"] == figures["trials"] == 0
