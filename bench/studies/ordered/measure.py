"""What sums in the order of the ranks cost beside the MPI's own: MPI_Allreduce natively, under
`lossless:reductions=ordered` raw, and under the same compressed, by turns.

    python bench/studies/ordered/measure.py [--hosts 2] [--ranks-per-host 2] [--link 10gbit]
        [--turns 3] [--build DIR]

With one host all ranks share this machine. Medians of the turns' medians, in microseconds; the
program compares every value.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from thinwire.lab import Lab

ROOT = Path(__file__).resolve().parents[3]
ORDERED = {"THINWIRE_CODEC": "lossless:reductions=ordered", "THINWIRE_LOG": "error"}
WAYS = {
    "native": None,
    # No reduction is named, so that none is timed compressed either.
    "raw": {**ORDERED, "THINWIRE_COLLECTIVES": "bcast"},
    "compressed": {**ORDERED, "THINWIRE_FORCE": "1"},
}


def times_of(
    lab: Lab, ranks: int, program: Path, build: Path, settings: dict[str, str] | None
) -> list[str]:
    preload = {"LD_PRELOAD": str(build / "shim" / "mpi" / "libthinwire_mpi_openmpi4.so")}
    given = {} if settings is None else settings | preload
    passed = [word for name in given for word in ("-x", name)]
    words = ["mpirun", "-n", str(ranks), *passed, str(program)]
    done = lab.run(words, env={**os.environ, **given}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed under {settings}: {done.stdout}{done.stderr}")
    return [line for line in done.stdout.splitlines() if line[:1].isdigit()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--ranks-per-host", type=int, default=2)
    parser.add_argument("--link", default="10gbit")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    given = parser.parse_args()
    found: dict[str, dict[int, list[float]]] = {way: {} for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "sums"
        source = Path(__file__).with_name("sums.c")
        subprocess.run(["mpicc", "-O2", source, "-o", program], check=True)
        ranks = given.hosts * given.ranks_per_host
        link = "none" if given.hosts == 1 else given.link
        with Lab(hosts=given.hosts, link=link, ranks_per_host=given.ranks_per_host) as lab:
            for _ in range(given.turns):
                for way, settings in WAYS.items():
                    if given.hosts == 1 and way == "compressed":
                        continue
                    for line in times_of(lab, ranks, program, given.build, settings):
                        size, took = line.split()
                        found[way].setdefault(int(size), []).append(float(took))
    print(f"bytes, {', '.join(WAYS)} (us; {os.cpu_count()} processors)")
    for size in found["native"]:
        medians = [statistics.median(found[way].get(size, [0])) for way in WAYS]
        print(f"{size}, " + ", ".join(f"{median:.1f}" for median in medians))


if __name__ == "__main__":
    main()
