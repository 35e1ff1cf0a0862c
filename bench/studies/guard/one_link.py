"""Ranks of a host that share one link: whether the library's choice is the faster one.

    python bench/studies/guard/one_link.py --pairs 8 --link 1gbit --json one_link.json

Two hosts of the lab. Each rank of the first sends messages to one of the second, all of them at
once, a round after the other. A field goes natively, under each lossless codec by order, and by
the library's choice with nothing else said; its median round by order says which way is the faster.
Every message is verified. Needs `make build`, mpi4py and the fields of THINWIRE_DATA.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from fields import FIELDS, LOSSLESS

NOISE = "noise"
SETTLING = 20  # rounds, in which the link and the codecs are found out
WANTED = 0.95


def rank(path: str, nbytes: int, rounds: int) -> None:
    """Sends, or takes and verifies; rank 0 prints the seconds of each round."""
    import numpy as np
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    half = world.size // 2
    # Neighbours in rank are on different hosts, as mpirun deals ranks to hosts by turns.
    sends, peer = world.rank % 2 == 0, world.rank ^ 1
    values = field(path, nbytes, world.rank // 2)
    into = np.empty_like(values)
    seconds = []
    for _ in range(rounds):
        world.Barrier()
        begin = time.perf_counter()
        if sends:
            world.Send(values, peer)
        else:
            world.Recv(into, peer)
        world.Barrier()
        seconds.append(time.perf_counter() - begin)
        if not sends and into.tobytes() != values.tobytes():
            raise SystemExit("a message came out different")
    hosts = world.gather(os.uname().nodename)
    if world.rank == 0:
        if len(set(hosts[0::2])) != 1 or len(set(hosts[1::2])) != 1 or hosts[0] == hosts[1]:
            raise SystemExit(f"ranks lie on {hosts}")
        print(json.dumps({"pairs": half, "seconds": seconds}))


def field(path: str, nbytes: int, pair: int) -> Any:
    """Values of the file from another place for each pair, which both ends know."""
    import numpy as np

    count = nbytes // 4
    if path == NOISE:
        bits = np.random.default_rng(pair).integers(0, 1 << 32, count, dtype=np.uint32)
        return bits.view(np.float32)
    whole = np.fromfile(path, np.float32)
    return np.resize(np.roll(whole, -pair * (whole.size // 64)), count)


def job(words: argparse.Namespace, path: str, way: str) -> dict[str, Any]:
    """A run of one field one way: seconds of its rounds, and what the ranks' library counted."""
    thinwire = [sys.executable, "-m", "thinwire"]
    program = [sys.executable, __file__, "--rank", path, str(words.bytes), str(words.rounds)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        mpirun = ["mpirun", "--oversubscribe", "--map-by", "node", "-n", str(2 * words.pairs)]
        mpirun += program
        if way != "native":
            asked = [] if way == "auto" else ["--codec", way, "--force"]
            mpirun = [*thinwire, "run", *asked, "--report", str(report), "--", *mpirun]
        lab = [*thinwire, "lab", "run", "--hosts", "2", "--link", words.link, "--", *mpirun]
        done = subprocess.run(lab, capture_output=True, text=True, timeout=words.limit)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            raise SystemExit(f"{way}: {done.stderr[-1500:]}")
        said = json.loads(lines[-1])
        if report.exists():
            counted = json.loads(report.read_text())
            said["messages"] = counted["messages"]
            said["compressed"] = counted["compressed_messages"]
    return said


def measured(words: argparse.Namespace, path: str) -> dict[str, Any]:
    jobs = {way: job(words, path, way) for way in ("native", *LOSSLESS, "auto")}
    took = {way: median(each["seconds"][SETTLING:]) for way, each in jobs.items()}
    best = min(LOSSLESS, key=lambda way: took[way])
    auto = jobs["auto"]
    compressed = auto["compressed"] / auto["messages"]
    gains = took[best] < took["native"]
    right = compressed if gains else 1 - compressed
    return {
        "field": Path(path).name,
        "pairs": auto["pairs"],
        "link": words.link,
        "bytes": words.bytes,
        "rounds": words.rounds,
        "best": best if gains else "native",
        "ms": {way: round(1e3 * each, 2) for way, each in took.items()},
        "compressed": round(compressed, 4),
        "right": round(right, 4),
        "within": right >= WANTED,
    }


def main() -> int:
    if sys.argv[1:2] == ["--rank"]:
        rank(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--link", default="1gbit")
    parser.add_argument("--bytes", type=int, default=1 << 20, help="of a message")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--field", action="append", help="these alone; noise is one, too")
    parser.add_argument("--limit", type=float, default=120, help="seconds of a run")
    parser.add_argument("--json", type=Path, help="a line a field is added to it")
    words = parser.parse_args()
    data = Path(os.environ["THINWIRE_DATA"])
    for name in words.field or (*FIELDS, NOISE):
        row = measured(words, NOISE if name == NOISE else str(data / name))
        print(json.dumps(row), flush=True)
        if words.json:
            with words.json.open("a") as out:
                out.write(json.dumps(row) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
