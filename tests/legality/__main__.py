"""Random legal MPI programs with and without the library:
python tests/legality --seeds 0:1000 --mpi openmpi --ranks 4
"""

import argparse
import sys
import time

from legality_compare import Summary, compare, keep, shrink
from legality_configurations import left_out
from legality_jobs import MPIS


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/legality", description=__doc__)
    parser.add_argument("--seeds", default="0:200", help="FIRST:END, the last one not")
    parser.add_argument("--mpi", choices=sorted(MPIS), default="openmpi")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--batch", type=int, default=2000, help="seeds between two reports")
    parser.add_argument("--seconds", type=int, default=60, help="until a seed counts as hung")
    parser.add_argument("--at-once", type=int, default=1, help="jobs side by side")
    parser.add_argument("--keep", action="store_true", help="shrink and keep what differs")
    return parser.parse_args()


def tell(summary: Summary, mpi: str) -> None:
    print(f"{summary.seeds} seeds, {len(summary.differences)} differ", flush=True)
    for difference in summary.differences:
        print(f"  seed {difference.seed} ({difference.configuration})")
        for line in difference.what[:4]:
            print(f"    {line}")
    for seed, said in summary.unfit.items():
        print(f"  seed {seed} is wrong without the library: {said[:2]}")
    print("codecs:", ", ".join(f"{name} {count}" for name, count in summary.codecs.items()))
    shown = ", ".join(f"{name} {count}" for name, count in summary.compressed.items())
    print(
        f"{summary.messages} messages, compressed: {shown}; {summary.entered} collectives entered"
    )
    for name, count in sorted(summary.features.items(), key=lambda pair: pair[1]):
        print(f"  {100 * count / max(1, summary.seeds):5.1f}% {name}")
    for name, why in left_out(mpi).items():
        share = 100 * summary.left_out[name] / max(1, summary.seeds)
        print(f"  left out of {share:.1f}%: {name} ({why})")


def main() -> int:
    given = arguments()
    first, end = (int(word) for word in given.seeds.split(":"))
    mpi = MPIS[given.mpi]
    whole = Summary()
    began = time.monotonic()
    for start in range(first, end, given.batch):
        seeds = range(start, min(end, start + given.batch))
        found = compare(mpi, given.ranks, seeds, given.seconds, given.at_once)
        if given.keep:
            for difference in found.differences:
                drop = shrink(mpi, given.ranks, difference.seed)
                print("kept", keep(mpi, given.ranks, difference, drop), flush=True)
        whole.add(found)
        print(f"seeds up to {seeds[-1]}, {time.monotonic() - began:.0f} s: ", end="")
        tell(whole, given.mpi)
    return 1 if whole.differences or whole.unfit else 0


if __name__ == "__main__":
    sys.exit(main())
