"""What the library adds to a rank's start and memory, by what was measured."""

import math
from dataclasses import dataclass

from thinwire.simulation.machine import Machine
from thinwire.simulation.run import Call

# docs/results/nccl.md, "How many ranks hold?": 512 processes on two cores make a communicator in
# 4.5 s, natively in 3.7, and hold 18.5 MiB each, natively 3.7, with five communicators.
HELPER_PROCESSOR_SECONDS = (4.5 - 3.7) * 2 / 512
HELPER_MEMORY_BYTES = round((18.5 - 3.7) * 2**20)
# Decision 0002: 20 to 400 microseconds a query.
MOST_CARD_SECONDS = 400e-6


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
