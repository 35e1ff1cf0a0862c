"""One simulated collective, by one schedule or by slots, and what the library adds to the start of
the rank that calls it."""

import math
from dataclasses import dataclass

from thinwire import dtypes
from thinwire.codec import Codec, CodecCost
from thinwire.comm.operation_names import algorithms, code_of, codings, operations
from thinwire.library import check, ffi, library, new_struct, set_numbers
from thinwire.simulation.machine import Machine

# Operations whose size is that of the whole array; of the others it is one rank's block.
OF_ARRAY = ("bcast", "reduce", "allreduce")
# tw_stream_operation by the names of tw_operation.
IN_STREAMS = {
    "allgather": 0,
    "bcast": 1,
    "reduce-scatter": 4,
    "allreduce": 5,
    "alltoall": 6,
    "gather": 7,
    "scatter": 8,
    "reduce": 9,
}
# Slots are whole 512ths of a block, with a sixteenth for data that shrink less.
CAPACITY, SPARE = 512, 17 / 16
# docs/results/nccl.md, "How many ranks hold?": 512 processes on two cores make a communicator in
# 4.5 s, natively in 3.7, and hold 18.5 MiB each, natively 3.7, with five communicators.
HELPER_PROCESSOR_SECONDS = (4.5 - 3.7) * 2 / 512
HELPER_MEMORY_BYTES = round((18.5 - 3.7) * 2**20)
# Decision 0002: 20 to 400 microseconds a query.
MOST_CARD_SECONDS = 400e-6


@dataclass(frozen=True)
class Call:
    """A collective: `nbytes` of the whole array in bcast, reduce and allreduce, of one rank's block
    in the others. `over` is "mpi" or "nccl"."""

    operation: str
    nbytes: int
    dtype: str
    nodes: int
    per_node: int
    over: str = "mpi"

    def __post_init__(self) -> None:
        if self.operation not in IN_STREAMS:
            known = ", ".join(IN_STREAMS)
            raise ValueError(f"operation: {self.operation!r} is none of {known}")
        if self.over not in ("mpi", "nccl"):
            raise ValueError(f"over: {self.over!r} is none of mpi, nccl")
        if self.dtype not in dtypes.NUMPY:
            raise ValueError(f"dtype: {self.dtype!r} is none of {', '.join(dtypes.NUMPY)}")
        for name in ("nodes", "per_node", "nbytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is below 1")

    @property
    def ranks(self) -> int:
        return self.nodes * self.per_node

    @property
    def all_bytes(self) -> int:
        """Of the whole operation, as plans count them."""
        return self.nbytes if self.operation in OF_ARRAY else self.nbytes * self.ranks


@dataclass(frozen=True)
class Simulation:
    """`link_bytes` are between nodes, `inside_bytes` inside them, of all ranks together, and so are
    `messages`; `most_messages` are those of one rank, and `workspace_bytes` of the rank that needs
    most. `simulated_ranks` are fewer than there are where one node stood for all."""

    way: str
    seconds: float
    link_bytes: int
    inside_bytes: int
    messages: int
    most_messages: int
    workspace_bytes: int
    simulated_ranks: int
    tasks: int


def run(
    call: Call,
    machine: Machine,
    codec: Codec | None,
    cost: CodecCost | None,
    *,
    algorithm: str = "",
    coding: str = "",
    piece_bytes: int = 0,
    most_tasks: int = 0,
    folds: bool = True,
) -> Simulation:
    """Simulates it; None as codec: raw values, over NCCL by its own function. ValueError, or
    ThinwireError, for what no machine or call is."""
    asked = new_struct("tw_simulation_call")
    width = dtypes.NUMPY[call.dtype].itemsize
    if call.over == "nccl":
        asked.in_streams = 1
        asked.operation = IN_STREAMS[call.operation]
        share = CAPACITY if cost is None else min(CAPACITY, -int(-CAPACITY * SPARE // cost.ratio))
        asked.capacity = [share, share]
    else:
        asked.operation = code_of("operation", operations(), call.operation)
        asked.algorithm = code_of("algorithm", algorithms(), algorithm)
        asked.coding = code_of("coding", codings(), coding)
    asked.dtype = dtypes.CODES[call.dtype]
    set_numbers(
        asked,
        count=max(1, call.nbytes // width),
        nodes=call.nodes,
        per_node=call.per_node,
        piece_bytes=piece_bytes,
        most_tasks=most_tasks,
        folds_not=int(not folds),
    )
    model = new_struct("tw_simulation_machine")
    set_numbers(model, cores=machine.cores, threads=machine.threads)
    machine.fill(model, cost)
    told = new_struct("tw_simulation")
    handle = ffi.NULL if codec is None else codec.handle
    check(library().tw_simulate(handle, model, asked, told))
    way = f"{algorithm} {coding}" if call.over == "mpi" else "nccl" if codec is None else "slots"
    return Simulation(
        way,
        told.seconds,
        told.link_bytes,
        told.inside_bytes,
        told.messages,
        told.most_messages,
        told.workspace_bytes,
        told.simulated_ranks,
        told.tasks,
    )


@dataclass(frozen=True)
class Start:
    """`seconds` are what a rank's start, and its first call, take longer at most; `memory_bytes`
    what it holds besides a call's workspace, None if nobody has measured it; `questions` what it
    asks its launcher. `source` says where the figures are from."""

    seconds: float
    memory_bytes: int | None
    questions: int
    source: str


def start_of(call: Call, machine: Machine) -> Start:
    """Over NCCL helpers find each other along a tree, two messages a level. Over MPI a rank asks
    for the card of each other one before its first large collective."""
    if call.over == "nccl":
        levels = math.ceil(math.log2(max(2, call.ranks)))
        seconds = HELPER_PROCESSOR_SECONDS + 2 * levels * machine.latency
        source = "docs/results/nccl.md: 512 processes; two messages a level of their tree"
        return Start(seconds, HELPER_MEMORY_BYTES, 0, source)
    others = call.ranks - 1
    source = "decision 0002: a query for each other rank, of 20 to 400 us"
    return Start(others * MOST_CARD_SECONDS, None, others, source)
