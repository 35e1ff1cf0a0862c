"""Allreduce under a bound of the result between ranks in threads, algorithm by algorithm in turns.

    python bench/studies/local_ranks.py --ranks 2,4,8 --size 64KiB,1MiB --file FIELD.f32

There is no link: a time is what coding, adding and passing on take on this machine's processors,
which all ranks share. Every result is compared with the sum in fp64, within the bound that the
library reports and the roundings of that sum, and bit for bit with the other ranks'. One that does
not hold ends the run without figures.
"""

import argparse
import os
import statistics
import threading
import time
from pathlib import Path

import numpy as np

import thinwire
from thinwire.library import parse_size

ALGORITHMS = ("ring", "direct", "recursive-doubling")


class VerifyError(Exception):
    """A result that is not what it must be."""


class Ranks:
    """The ranks' arrays, and one allreduce of them at a time."""

    def __init__(self, size: int, values: np.ndarray, spec: str) -> None:
        self.spec = spec
        # As `thinwire bench collective` has them.
        self.parts = [(values * (1 - rank / (2 * size))).astype(np.float32) for rank in range(size)]
        self.totals = [np.empty_like(values) for _ in range(size)]
        self.exact = np.sum([part.astype(np.float64) for part in self.parts], axis=0)
        self.comms = thinwire.local_ranks(size, codec=spec, threshold=0)

    def run(self, algorithm: str) -> tuple[float, thinwire.CollectiveReport]:
        """Seconds from a barrier to the last rank's end, and rank 0's report."""
        size = len(self.parts)
        begins, ends, failures = [0.0] * size, [0.0] * size, []
        barrier = threading.Barrier(size)
        for total in self.totals:
            total.fill(np.nan)

        def work(rank: int) -> None:
            try:
                barrier.wait()
                begins[rank] = time.perf_counter()
                self.comms[rank].Allreduce(self.parts[rank], self.totals[rank], algorithm=algorithm)
                ends[rank] = time.perf_counter()
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        report = self.comms[0].last_report
        if report is None:
            raise VerifyError("no report")
        return max(ends) - min(begins), report

    def error(self, bound: float) -> float:
        """The largest, of a result that is right."""
        if any(total.tobytes() != self.totals[0].tobytes() for total in self.totals):
            raise VerifyError("ranks end with other bits")
        largest = float(np.max(np.abs(self.totals[0] - self.exact)))
        magnitude = float(np.max(np.sum([np.abs(part) for part in self.parts], axis=0)))
        # Without a bound the values went raw, and additions alone round.
        allowed = bound if bound > 0 else len(self.parts) * 2.0**-24 * magnitude
        if not largest <= allowed * (1 + 1e-12):
            raise VerifyError(f"off by {largest}, bound {bound}")
        return largest

    def close(self) -> None:
        for comm in self.comms:
            comm.close()


def measure(ranks: Ranks, turns: int) -> list[str]:
    seconds: dict[str, list[float]] = {name: [] for name in ALGORITHMS}
    notes = {}
    for turn in range(turns + 1):
        for name in ALGORITHMS:
            taken, report = ranks.run(name)
            error = ranks.error(report.bound)
            if turn > 0:
                seconds[name].append(taken)
            share = f"{error / report.bound:.3f}" if report.bound > 0 else report.why_raw
            notes[name] = f"{report.ratio:.2f} | {share}"
    return [
        f"{name} | {1e3 * statistics.median(taken):.3f} | {1e3 * min(taken):.3f} | {notes[name]}"
        for name, taken in seconds.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="2,4,8,16,32,64")
    parser.add_argument("--size", default="1KiB,16KiB,256KiB,1MiB,16MiB")
    parser.add_argument("--codec", default="szp:allreduce-rel=1e-4")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument(
        "--file", type=Path, required=True, help="fp32 values, repeated to the size"
    )
    options = parser.parse_args()
    field = np.fromfile(options.file, np.float32)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print("| bytes | ranks | algorithm | median ms | least ms | ratio | error by bound |")
    print("|---|---|---|---|---|---|---|")
    for text in options.size.split(","):
        size = parse_size(text)
        for count in map(int, options.ranks.split(",")):
            ranks = Ranks(count, np.resize(field, size // 4), options.codec)
            for row in measure(ranks, options.turns):
                print(f"| {size} | {count} | {row} |", flush=True)
            ranks.close()


if __name__ == "__main__":
    main()
