"""`thinwire.simulate`: times known by hand, and bytes that are conserved."""

import dataclasses
import time
from pathlib import Path
from typing import Any

import pytest

import thinwire
from thinwire.codec import Codec, CodecCost
from thinwire.simulation import Machine, Simulation, loses_from
from thinwire.simulation.run import OF_ARRAY, Call, run

GB = 10**9
# Nothing but the links takes time.
BARE = Machine(GB, latency=0, message=0, inside=0, inside_latency=0, copy=0, coding=0)
WHOLE = 1 << 40  # one piece a block
MPC, FREE = Codec("mpc"), CodecCost(1e18, 1e18, 2)
SCHEDULES = thinwire.schedules()
ids = [" ".join(each) for each in SCHEDULES]
BOXED = 1 << 20  # whole boxes of every codec, for up to 64 ranks


def raw(
    operation: str, way: str, nbytes: int, nodes: int, per_node: int = 1, **given: Any
) -> Simulation:
    algorithm, coding = way.split()
    machine = given.pop("machine", BARE)
    call = Call(operation, nbytes, "f32", nodes, per_node)
    given = {"piece_bytes": WHOLE} | given
    return run(call, machine, None, None, algorithm=algorithm, coding=coding, **given)


@pytest.mark.parametrize(
    ("operation", "way", "blocks"),
    [
        ("allgather", "ring once", 3),
        ("allgather", "direct once", 3),
        ("alltoall", "pairwise once", 3),
        ("reduce-scatter", "ring once", 3),
        ("gather", "direct once", 3),  # all into the root's link
        ("allreduce", "ring once", 2 * 3 / 4),
        ("reduce-scatter", "direct once", 3),
        ("bcast", "chain once", 3),  # in one piece nothing overlaps
        ("bcast", "binomial once", 2),
    ],
)
def test_four_ranks_take_what_is_known_by_hand(operation: str, way: str, blocks: float) -> None:
    assert raw(operation, way, BOXED, 4).seconds == pytest.approx(blocks * BOXED / GB)


@pytest.mark.parametrize("operation", ["scatter", "allreduce"])
def test_more_pieces_than_there_is_memory_for_become_longer(operation: str) -> None:
    way = "direct once" if operation == "scatter" else "ring once"
    found = raw(operation, way, 1 << 46, 5, 7, piece_bytes=1, folds=False)
    assert 0 < found.tasks <= 1_500_000
    assert found.seconds > (1 << 46) / GB


def test_pieces_do_not_grow_beyond_all_numbers() -> None:
    found = raw("gather", "direct once", 1 << 46, 300, piece_bytes=1 << 45, most_tasks=1)
    assert found.link_bytes == 299 << 46


def test_more_tasks_than_are_simulated_are_an_error() -> None:
    """A block of 2^32 pieces had none, and took no time."""
    with pytest.raises(thinwire.ThinwireError, match="tasks"):
        raw("bcast", "chain once", 1 << 46, 2, piece_bytes=1, most_tasks=1 << 40)


@pytest.mark.parametrize("codec", [None, MPC])
def test_more_bytes_than_can_be_counted_are_an_error(codec: Codec | None) -> None:
    call = Call("alltoall", 1 << 46, "f32", 8, 100, "nccl")
    with pytest.raises(thinwire.ThinwireError, match="63 bits"):
        run(call, BARE, codec, FREE if codec else None)
    with pytest.raises(thinwire.ThinwireError, match="63 bits"):
        raw("alltoall", "pairwise once", 1 << 46, 8, 100)


def test_pieces_of_a_chain_overlap() -> None:
    pieces = raw("bcast", "chain once", BOXED, 4, piece_bytes=BOXED // 8)
    assert pieces.seconds == pytest.approx((8 + 2) * BOXED / 8 / GB)


def test_what_a_codec_takes_and_saves() -> None:
    cost = CodecCost(2 * GB, 4 * GB, 2)
    call = Call("bcast", BOXED, "f32", 2, 1)
    way = {"algorithm": "chain", "coding": "once", "piece_bytes": WHOLE}
    found = run(call, BARE, MPC, cost, **way)  # type: ignore[arg-type]
    assert found.seconds == pytest.approx(BOXED * (1 / 2 + 1 / 2 + 1 / 4) / GB)
    assert found.link_bytes == BOXED // 2


def test_latency_and_what_messages_cost() -> None:
    machine = Machine(GB, latency=1e-3, message=1e-4, inside=0, copy=0, coding=0)
    found = raw("bcast", "chain once", BOXED, 2, machine=machine)
    assert found.seconds == pytest.approx(1e-4 + BOXED / GB + 1e-3, rel=0.02)


def test_ranks_of_a_node_share_its_link() -> None:
    """Four ranks send four blocks each to the other node."""
    found = raw("alltoall", "pairwise two-level", BOXED, 2, 4)
    assert found.seconds == pytest.approx(16 * BOXED / GB)
    assert found.inside_bytes == 8 * 3 * BOXED


def test_cores_are_shared() -> None:
    cost = CodecCost(GB, 1e18, 1e3)
    call = Call("alltoall", BOXED, "f32", 2, 4)
    way = {"algorithm": "pairwise", "coding": "two-level", "piece_bytes": WHOLE}
    two = Machine(GB * 100, **{**COSTLESS, "cores": 2})
    many = Machine(GB * 100, **COSTLESS)
    slow, fast = (run(call, each, MPC, cost, **way) for each in (two, many))  # type: ignore[arg-type]
    assert slow.seconds == pytest.approx(2 * fast.seconds, rel=0.05)


COSTLESS: dict[str, Any] = {
    "latency": 0,
    "message": 0,
    "inside": 0,
    "inside_latency": 0,
    "copy": 0,
    "coding": 0,
}


def test_incast_slows_the_root_and_overlap_the_rank() -> None:
    crowded = Machine(GB, **{**COSTLESS, "incast": 0.1})
    calm, slow = (
        raw("gather", "direct once", BOXED, 16, machine=each).seconds for each in (BARE, crowded)
    )
    assert 1.1 * calm < slow < 1.5 * calm
    call, cost = Call("allgather", 1 << 22, "f32", 4, 1), CodecCost(GB, GB, 2)
    way = {"algorithm": "ring", "coding": "once", "piece_bytes": 1 << 18}
    alone = Machine(GB, **{**COSTLESS, "overlap": 0.0})
    both = [run(call, each, MPC, cost, **way).seconds for each in (BARE, alone)]  # type: ignore[arg-type]
    assert both[1] > 1.2 * both[0]


def received(operation: str, ranks: int, nbytes: int) -> int:
    """The least that ranks must get from others, all together."""
    if operation in ("allgather", "alltoall", "reduce-scatter"):
        return ranks * (ranks - 1) * nbytes
    if operation == "allreduce":
        return 2 * (ranks - 1) * nbytes
    return (ranks - 1) * nbytes


@pytest.mark.parametrize("schedule", SCHEDULES, ids=ids)
def test_bytes_are_conserved_and_never_fewer_with_more_ranks(
    schedule: tuple[str, str, str],
) -> None:
    operation, algorithm, coding = schedule
    before = 0
    for ranks in range(2, 17):
        found = raw(operation, f"{algorithm} {coding}", BOXED, ranks, piece_bytes=1 << 16)
        all_bytes = found.link_bytes + found.inside_bytes
        assert all_bytes >= before, ranks
        before = all_bytes
        doubles = operation == "allreduce" and algorithm == "recursive-doubling"
        least = received(operation, ranks, BOXED)
        assert all_bytes >= least / (2 if doubles else 1) * 0.999, ranks
        if operation in ("bcast", "allgather", "alltoall", "reduce-scatter"):
            assert all_bytes == least, ranks


ALIKE = [
    each
    for each in SCHEDULES
    if each[0] in ("allgather", "alltoall", "allreduce", "reduce-scatter")
    and each[:2] != ("allgather", "recursive-doubling")
]


@pytest.mark.parametrize("schedule", ALIKE, ids=[" ".join(each) for each in ALIKE])
@pytest.mark.parametrize(("nodes", "per_node"), [(8, 1), (4, 2), (16, 4), (7, 3)])
def test_one_node_stands_for_all(schedule: tuple[str, str, str], nodes: int, per_node: int) -> None:
    """If every rank has as much, its time is that of all ranks, each simulated."""
    operation, algorithm, coding = schedule
    ranks = nodes * per_node
    power = ranks & (ranks - 1) == 0
    if algorithm == "recursive-doubling" and not power:
        pytest.skip("ranks differ")
    nbytes = ranks << 18 if operation in OF_ARRAY else 1 << 18
    machine = Machine(GB, latency=1e-5, message=0, inside=1e10, copy=1e10, coding=1e-6)
    call = Call(operation, nbytes, "f32", nodes, per_node)
    way = {"algorithm": algorithm, "coding": coding, "piece_bytes": 1 << 16}
    cost = CodecCost(GB, GB, 2)
    every = run(call, machine, MPC, cost, folds=False, **way)  # type: ignore[arg-type]
    one = run(call, machine, MPC, cost, most_tasks=every.tasks // 2, **way)  # type: ignore[arg-type]
    assert (every.simulated_ranks, one.simulated_ranks) == (ranks, per_node)
    assert one.seconds == pytest.approx(every.seconds, rel=0.1)
    assert one.link_bytes == pytest.approx(every.link_bytes, rel=0.001)
    assert one.messages == every.messages


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES, ids=ids)
@pytest.mark.parametrize(("nodes", "per_node"), [(4096, 1), (512, 8)])
def test_4096_ranks_take_less_than_a_minute(
    schedule: tuple[str, str, str], nodes: int, per_node: int
) -> None:
    operation, algorithm, coding = schedule
    call = Call(operation, 64 << 20 if operation in OF_ARRAY else 1 << 20, "f32", nodes, per_node)
    machine = Machine(12.5e9, cores=64)
    way = {"algorithm": algorithm, "coding": coding, "piece_bytes": 1 << 18}
    begin = time.process_time()
    for codec, cost in ((None, None), (MPC, CodecCost(GB, GB, 1.5))):
        found = run(call, machine, codec, cost, **way)  # type: ignore[arg-type]
        assert found.seconds > 0
    assert time.process_time() - begin < 60


@pytest.mark.parametrize("over", ["mpi", "nccl"])
@pytest.mark.parametrize("operation", ["allreduce", "allgather", "alltoall", "bcast", "reduce"])
def test_it_gains_over_slow_links_and_loses_over_fast_ones(over: str, operation: str) -> None:
    cost = CodecCost(5 * GB, 5 * GB, 3)
    gains = [
        thinwire.simulate(
            operation,
            1 << 24,
            machine=Machine(link, copy=1e12, coding=1e-6),
            codec="mpc",
            cost=cost,
            nodes=4,
            over=over,
        ).gain
        for link in (1e7, 1e11)
    ]
    assert gains[0] > 1.3 and gains[1] < 1


@pytest.mark.parametrize(
    "text", ["[]", "{}", "null", "[" * 100_000], ids=["list", "{}", "null", "deep"]
)
def test_files_that_are_no_machine_are_errors(text: str, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="no machine of"):
        Machine.read(path)


@pytest.mark.parametrize("operation", OF_ARRAY)
def test_what_takes_no_time_gains_nothing(operation: str) -> None:
    given = {"machine": BARE, "codec": "mpc", "cost": FREE, "nodes": 1}
    assert thinwire.simulate(operation, 4, **given).gain == 1  # type: ignore[arg-type]


def test_the_number_of_ranks_from_which_it_loses() -> None:
    """Slots cost a launch a peer, a ring of NCCL's does not."""
    machine = Machine.with_gpus(25e9)
    found = thinwire.simulate(
        "allreduce",
        64 << 20,
        machine=machine,
        codec="lossless",
        cost=CodecCost(150e9, 150e9, 1.5),
        nodes=4,
        per_node=8,
        over="nccl",
        dtype="bf16",
    )
    least = loses_from(found, machine)
    assert found.gain > 1 and least is not None and 32 < least <= 4096

    def gain(ranks: int) -> float:
        return thinwire.simulate(
            "allreduce",
            64 << 20,
            machine=machine,
            codec="lossless",
            cost=found.cost,
            nodes=ranks // 8,
            per_node=8,
            over="nccl",
            dtype="bf16",
        ).gain

    assert gain(least) < 1 and gain(4096) < 1 and gain(least // 2) > 1


def test_slots_by_hand() -> None:
    """Two GPUs on two nodes: encode, slot, decode."""
    cost = CodecCost(100 * GB, 50 * GB, 2)
    call = Call("allgather", BOXED, "f32", 2, 1, "nccl")
    found = run(call, BARE, MPC, cost)
    slot = found.link_bytes / 2
    assert BOXED / 2 < slot < BOXED * 0.6
    by_hand = BOXED / (100 * GB) + slot / GB + BOXED / (50 * GB)
    assert found.seconds == pytest.approx(by_hand, rel=0.001)
    own = run(call, BARE, None, None)
    assert own.seconds == pytest.approx(BOXED / GB) and own.link_bytes == 2 * BOXED


@pytest.mark.parametrize(("nodes", "arrays"), [(2, 1), (3, 3 / 2), (4, 7 / 4), (16, 31 / 16)])
def test_native_sums_of_nodes_of_two(nodes: int, arrays: float) -> None:
    """Two nodes go by trees, and send half of the array up one and half down the other; of three
    one sends up and down in one tree, up in the other. More go by a ring of all ranks."""
    call = Call("allreduce", BOXED, "f32", nodes, 2, "nccl")
    found = run(call, BARE, None, None)
    assert found.seconds == pytest.approx(arrays * BOXED / GB)
    trees = 2 * (nodes - 1) * BOXED
    assert found.link_bytes == (trees if nodes < 4 else round(arrays * nodes * BOXED))


def test_blocks_of_one_shape_are_coded_in_one_step() -> None:
    """As a launch on a GPU codes up to 64. In a build without GPU sides each is coded by itself."""
    slow = dataclasses.replace(BARE, coding=1.0)

    def steps(ranks: int) -> int:
        call = Call("allreduce", ranks << 20, "f32", ranks, 1, "nccl")
        seconds = [run(call, machine, MPC, FREE).seconds for machine in (BARE, slow)]
        return round(seconds[1] - seconds[0])

    # An encode and a decode an exchange, and the sum.
    assert [steps(ranks) for ranks in (4, 32)] in ([5, 5], [11, 95])
