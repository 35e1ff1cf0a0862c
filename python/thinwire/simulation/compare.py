"""Raw beside compressed, each as its plan has it, and the number of ranks from which one loses."""

from dataclasses import dataclass, replace

from thinwire.codec import Codec, CodecCost
from thinwire.plan import Choice, PlanSettings, plan_collective
from thinwire.simulation.machine import Machine
from thinwire.simulation.run import Call, Simulation, run

MOST_RANKS = 4096
# A search looks at many numbers of ranks: in longer pieces, with more ranks that stand for others.
TASKS_OF_SEARCH = 400_000
# How near the number is found: a third of a doubling or so.
SEARCH_STEPS = 2


@dataclass(frozen=True)
class Comparison:
    """`gain` is the raw time over the compressed one; below 1 compressing loses. What takes no time
    either way, as of one rank, has a gain of 1."""

    call: Call
    codec: str
    cost: CodecCost
    raw: Simulation
    compressed: Simulation

    @property
    def gain(self) -> float:
        return self.raw.seconds / self.compressed.seconds if self.compressed.seconds > 0 else 1


def simulate(
    operation: str,
    nbytes: int,
    *,
    machine: Machine,
    codec: Codec | str,
    cost: CodecCost,
    nodes: int,
    per_node: int = 1,
    dtype: str = "f32",
    over: str = "mpi",
    algorithm: str | None = None,
    coding: str | None = None,
    most_tasks: int = 0,
) -> Comparison:
    """Simulates one collective, raw and compressed.

    `nbytes` is the size of the whole array of bcast, reduce and allreduce, and of one rank's block
    of the others. Over "mpi" both ways go by the schedules that the library's plan chooses, unless
    `algorithm` and `coding` name one; over "nccl" raw is NCCL's own function, compressed are slots.
    `cost` is of one thread or GPU; everything has its ratio. ValueError, or ThinwireError, for a
    machine or a call that is none.
    """
    call = Call(operation, nbytes, dtype, nodes, per_node, over)
    coder = Codec(codec) if isinstance(codec, str) else codec
    if coder.spec == "off":
        raise ValueError("codec: off compresses nothing")
    raw = _one(call, machine, None, None, None, None, most_tasks)
    compressed = _one(call, machine, coder, cost, algorithm, coding, most_tasks)
    return Comparison(call, coder.spec, cost, raw, compressed)


def _one(
    call: Call,
    machine: Machine,
    codec: Codec | None,
    cost: CodecCost | None,
    algorithm: str | None,
    coding: str | None,
    most_tasks: int,
) -> Simulation:
    if call.over == "nccl":
        return run(call, machine, codec, cost)
    plan = planned(call, machine, codec, cost)
    return run(
        call,
        machine,
        codec,
        cost,
        algorithm=algorithm or plan.algorithm,
        coding=coding or plan.coding,
        piece_bytes=plan.piece_bytes,
        most_tasks=most_tasks,
    )


def planned(
    call: Call, machine: Machine, codec: Codec | None, cost: CodecCost | None, *, told: bool = True
) -> Choice:
    """The plan's schedule and pieces; `told`: it is told the link's rate and the codec's cost."""
    settings = PlanSettings(0, True, machine.link if told else None, cost, force=True)
    return plan_collective(
        codec or Codec("off"),
        settings,
        call.operation,
        call.dtype,
        call.all_bytes,
        ranks=call.ranks,
        nodes=call.nodes,
    )


def loses_from(
    comparison: Comparison, machine: Machine, most_ranks: int = MOST_RANKS
) -> int | None:
    """The number of ranks from which on compressing loses, with as many on each node: found by
    doubling and then between, to about a fifth. None: it gains at `most_ranks`, the last number
    that was looked at. Sizes stay as they are."""
    call = comparison.call

    def loses(nodes: int) -> bool:
        asked = replace(call, nodes=nodes)
        raw = _one(asked, machine, None, None, None, None, TASKS_OF_SEARCH)
        codec = Codec(comparison.codec)
        coded = _one(asked, machine, codec, comparison.cost, None, None, TASKS_OF_SEARCH)
        return coded.seconds >= raw.seconds

    low, high = 1, most_ranks // call.per_node
    if high < 2 or not loses(high):
        return None
    # From the largest number down, as long as it loses.
    while high > 2:
        half = max(2, high // 2)
        if not loses(half):
            low = half
            break
        high = half
    if low == 1:
        return 2 * call.per_node
    for _ in range(SEARCH_STEPS):
        middle = round((low * high) ** 0.5)
        if not low < middle < high:
            break
        low, high = (low, middle) if loses(middle) else (middle, high)
    return high * call.per_node
