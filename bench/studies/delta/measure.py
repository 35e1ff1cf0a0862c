"""What references make of calls whose arrays hardly change, beside the same calls without.

    thinwire lab run --hosts 2 --link 1gbit -- \
        mpirun -n 2 python bench/studies/delta/measure.py --link 1gbit

Each step of a program moves its arrays four ways, in turns, on the same data: by the MPI itself,
by a communicator that codes nothing, by one under `auto`, and by one under `auto` with references.
Every result is compared with what was sent. Rank 0 prints a line for each program and way: sizes
are of what it sent, times medians over steps of a step's calls together, from the second step on.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parent))

import programs

import thinwire

WAYS = ("native", "raw", "auto", "references")
FILLER_BYTES = 2 << 20


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--link", required=True, help="the link's rate, as the lab was given it")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--references", default="256MiB")
    parser.add_argument("--only", choices=sorted(programs.ALL))
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def communicators(link: str, references: str) -> dict[str, thinwire.Communicator | None]:
    nodes = range(MPI.COMM_WORLD.size)
    make = thinwire.Communicator
    world = MPI.COMM_WORLD
    return {
        "native": None,
        "raw": make(world, codec="off", nodes=nodes),
        "auto": make(world, codec="auto", link=link, nodes=nodes),
        "references": make(world, codec="auto", link=link, nodes=nodes, references=references),
    }


def from_rank_0(steps: Iterator[list[np.ndarray]], count: int) -> Iterator[list[np.ndarray]]:
    """Each step's arrays as rank 0 has made them: sums of floats may be others on another rank."""
    world = MPI.COMM_WORLD
    for _ in range(count):
        arrays = next(steps) if world.rank == 0 else []
        shapes = world.bcast([(each.shape, each.dtype) for each in arrays])
        if world.rank != 0:
            arrays = [np.empty(*each) for each in shapes]
        for array in arrays:
            world.Bcast(array.reshape(-1).view(np.uint8), 0)
        yield arrays


class Mover:
    """Moves an array to all ranks, the way that is asked for, and checks it."""

    def __init__(self, operation: str) -> None:
        self.world = MPI.COMM_WORLD
        self.operation = operation
        self.filler = np.zeros(FILLER_BYTES, np.uint8)

    def buffers(self, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What this rank gives, and room for the result."""
        flat = array.reshape(-1)
        if self.operation == "bcast":
            room = flat.copy() if self.world.rank == 0 else np.zeros_like(flat)
            return room, room
        block = flat.size // self.world.size
        own = flat[self.world.rank * block : (self.world.rank + 1) * block].copy()
        return own, np.zeros(block * self.world.size, flat.dtype)

    def call(self, comm: Any, own: np.ndarray, out: np.ndarray, dtype: str) -> Any:
        if comm is None:
            if self.operation == "bcast":
                return self.world.Bcast(out.view(np.uint8), 0)
            return self.world.Allgather(own.view(np.uint8), out.view(np.uint8))
        if self.operation == "bcast":
            return comm.Bcast([out, dtype], 0)
        return comm.Allgather([own, dtype], [out, dtype])

    def move(self, comm: Any, array: np.ndarray, dtype: str) -> tuple[float, Any]:
        own, out = self.buffers(array)
        # A bucket that has filled up would flatter whoever comes first.
        self.world.Bcast(self.filler, 0)
        self.world.Barrier()
        begin = time.perf_counter()
        report = self.call(comm, own, out, dtype)
        took = self.world.allreduce(time.perf_counter() - begin, MPI.MAX)
        if out.tobytes() != array.reshape(-1)[: out.size].tobytes():
            raise SystemExit(f"rank {self.world.rank}: another result than was sent")
        return took, report


def measure(
    name: str,
    steps: Iterator[list[np.ndarray]],
    how: tuple[str, str],
    comms: dict[str, Any],
) -> list[dict[str, Any]]:
    operation, dtype = how
    mover = Mover(operation)
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    sent = {way: [0, 0, 0] for way in WAYS}
    held, alike, previous = 0, [], None
    for step, arrays in enumerate(steps):
        spent = dict.fromkeys(WAYS, 0.0)
        for at, array in enumerate(arrays):
            for turn in range(len(WAYS)):
                way = WAYS[(turn + step + at) % len(WAYS)]
                took, report = mover.move(comms[way], array, dtype)
                spent[way] += took
                if report is not None and step > 0:
                    for place, value in enumerate(
                        (report.raw_bytes, report.wire_bytes, report.delta_packets)
                    ):
                        sent[way][place] += value
                    held = max(held, report.reference_bytes)
        if previous is not None:
            for way in WAYS:
                times[way].append(spent[way])
            alike.append(np.mean([np.mean(a == b) for a, b in zip(arrays, previous, strict=True)]))
        previous = [array.copy() for array in arrays]
    rows = []
    for way in WAYS:
        raw, wire, deltas = sent[way]
        rows.append(
            {
                "program": name,
                "way": way,
                "seconds": statistics.median(times[way]),
                "ratio": raw / wire if wire else 1.0,
                "delta_packets": deltas,
                "reference_bytes": held if way == "references" else 0,
                "same_values": float(np.mean(alike)),
            }
        )
    return rows


def main() -> None:
    options = parse()
    comms = communicators(options.link, options.references)
    load = os.getloadavg()[0]
    rows = []
    for name, (make, operation, dtype) in programs.ALL.items():
        if options.only not in (None, name):
            continue
        maker: Callable[[int], Iterator[list[np.ndarray]]] = make
        steps = from_rank_0(maker(options.steps), options.steps)
        rows += measure(name, steps, (operation, dtype), comms)
    for comm in comms.values():
        if comm is not None:
            comm.close()
    if MPI.COMM_WORLD.rank != 0:
        return
    print(f"link {options.link}, {MPI.COMM_WORLD.size} ranks, load {load:.1f} at the start")
    for row in rows:
        print(
            f"{row['program']:14} {row['way']:11} {row['seconds'] * 1e3:9.1f} ms"
            f"  ratio {row['ratio']:6.2f}  deltas {row['delta_packets']:4}"
            f"  held {row['reference_bytes'] / 2**20:6.1f} MiB  same {row['same_values']:.3f}"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
