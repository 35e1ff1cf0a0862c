"""How much GPU memory a rank of an NCCL program has taken, natively and under the preload library.

    python bench/studies/memory/measure.py [--layout 2x2] [--layout 4x1] [--bytes 4MiB]
        [--library PATH]

Sums of fp32, on hosts of the lab; `2x2` is two hosts of two ranks. Hosts share GPUs if there are
fewer, but ranks of one host do not, as NCCL has it: 2x2 needs two GPUs, 4x1 one. Nothing else may
use them. Each way is a job of its own:

    native    without the library
    raw       `lossless` on noise, which does not get smaller
    timed     `lossless` on data that do, as the ranks decide by the time
    compressed  the same, forced

The table has MiB a rank more than when the rank had its context and its arrays: with the
communicator made, and after so many calls; what processes of one GPU have taken is divided by them.
Then what the library reports of it. Sums are checked. JSON lines go to --json.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from thinwire.bench.nccl_ranks import exit_codes, find_nccl
from thinwire.lab import Lab
from thinwire.lab.gpus import visible
from thinwire.library import NCCL_SHIM, library_path, parse_size

RANK = Path(__file__).with_name("rank.py")
CALLS = (1, 5, 100, 400)
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "native": ("ones", {}),
    "raw": ("noise", {"THINWIRE_CODEC": "lossless"}),
    "timed": ("ones", {"THINWIRE_CODEC": "lossless"}),
    "compressed": ("ones", {"THINWIRE_CODEC": "lossless", "THINWIRE_FORCE": "1"}),
}
MIB = 1 << 20


def gpus_of(hosts: int, ranks: int) -> list[tuple[str, ...]] | None:
    """Of each host; None if there are none, and it is the libnccl of the tests. LookupError:
    too few."""
    found = visible(os.environ)
    if not found:
        return None
    if len(found) < ranks:
        raise LookupError(f"{ranks} ranks of a host need as many GPUs, there are {len(found)}")
    return [
        tuple(found[(host * ranks + rank) % len(found)] for rank in range(ranks))
        for host in range(hosts)
    ]


def measure(layout: str, way: str, given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    hosts, ranks = map(int, layout.split("x"))
    gpus = gpus_of(hosts, ranks)
    data, settings = WAYS[way]
    env = {name: value for name, value in os.environ.items() if not name.startswith("THINWIRE_")}
    if way != "native":
        shim = str(library_path(NCCL_SHIM))
        env |= {"LD_PRELOAD": shim, "THINWIRE_REPORT": str(folder / "report"), **settings}
        env["THINWIRE_NCCL"] = given.library
    command = [sys.executable, RANK, given.library, folder, given.bytes, data, *CALLS]
    words = ["sh", "-c", 'exec "$@" 2> "$0$RANK"', str(folder / "errors"), *map(str, command)]
    with Lab(hosts=hosts, ranks_per_host=ranks, link=given.link, gpus=gpus) as lab:
        started = lab.popen_everywhere(words, env=env)
        codes = exit_codes(started, given.limit)
    if any(codes):
        errors = [
            Path(folder, f"errors{rank}").read_text()[-1500:] for rank in range(hosts * ranks)
        ]
        sys.exit(f"{layout}, {way}: ranks ended with {codes}\n" + "\n".join(errors))
    found = {"layout": layout, "way": way, "bytes": given.bytes, "gpus": gpus}
    return found | taken(folder, hosts * ranks, gpus) | reported(folder, way)


def taken(folder: Path, ranks: int, gpus: list[tuple[str, ...]] | None) -> dict[str, Any]:
    """The most of any rank, of what was taken since it had its arrays."""
    of_ranks = [json.loads(Path(folder, f"taken.{rank}").read_text()) for rank in range(ranks)]
    names = [name for host in gpus or () for name in host] or [str(rank) for rank in range(ranks)]
    most: dict[str, float] = {}
    for at in of_ranks[0]:
        for rank, of in enumerate(of_ranks):
            share = (of[at] - of["before"]) / names.count(names[rank])
            most[at] = max(most.get(at, 0), share)
    del most["before"]
    return {"taken": {at: round(most[at] / MIB, 1) for at in most}}


def reported(folder: Path, way: str) -> dict[str, Any]:
    """Of rank 0: how many sums were compressed, and what its report says of memory."""
    if way == "native":
        return {"compressed": 0, "reported": {}}
    report = json.loads(Path(folder, "report.nccl.rank0").read_text())
    (found,) = [each for each in report["communicators"] if each["operations"]]
    of = found["operations"]["AllReduce"]
    kept = {name: found[name] for name in ("connections", "memory") if name in found}
    kept["raw"] = of["raw_by_reason"]
    return {"compressed": of["compressed_calls"], "reported": kept}


def table(rows: list[dict[str, Any]]) -> str:
    head = ["layout", "way", *rows[0]["taken"], "compressed calls"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        figures = [f"{each:.0f}" for each in row["taken"].values()]
        lines.append([row["layout"], row["way"], *figures, str(row["compressed"])])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layout", action="append", help="2x2 and 4x1 unless said otherwise")
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--bytes", type=parse_size, default=4 * MIB)
    parser.add_argument("--link", default="10gbit")
    parser.add_argument("--library", help="the libnccl; that of this Python's packages")
    parser.add_argument("--limit", type=float, default=180, help="seconds of a job")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    given.library = find_nccl(Path(given.library) if given.library else None)
    rows = []
    for layout in given.layout or ("2x2", "4x1"):
        for way in given.way or WAYS:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(measure(layout, way, given, Path(folder)))
            except LookupError as why:
                print(f"{layout}, {way}: left out: {why}", file=sys.stderr)
                continue
            print(json.dumps(rows[-1]), flush=True)
            if given.json:
                with given.json.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    if rows:
        print(table(rows))


if __name__ == "__main__":
    main()
