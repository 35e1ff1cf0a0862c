"""The studies of this folder: starts its examples under many policies, and makes tables.

    python study.py speed --link 10gbit      20 steps each, two hosts of the lab, a GPU each
    python study.py mesh --link 10gbit       the same of the GPT on meshes of the hosts
    python study.py near                     FSDP2 on one machine, where nothing is to be compressed
    python study.py converge --seeds 3       two ranks of this machine, codecs forced
    python study.py table runs.json          of the lines that runs have written (--json)

On a machine with GPUs each run but the raw ones is under the preload library (thinwire run --nccl),
elsewhere thinwire.torch's hooks carry the gradients. `python` must have PyTorch and thinwire. A run
that fails, or takes longer than --limit, is named and left out; the others go on until --total.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tables import tables

HERE = Path(__file__).parent
THINWIRE = [sys.executable, "-m", "thinwire"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
GRADIENTS = '{"*": {"gradients": "blockq", "parameters": "lossless"}}'
NAIVE = '{"*": {"*": "zfp:rate=8"}}'

# An example, its words, and what it is timed under. In the steps before, the ranks find out how
# small calls of each kind become, and whether that pays.
SPEED: list[tuple[str, str, list[str]]] = [
    ("gpt_data_parallel.py", "--size 100M --dtype bf16 --warm 10", ["lossless", GRADIENTS]),
    ("gpt_data_parallel.py", "--size 100M --dtype bf16 --way ddp --warm 24", ["lossless"]),
    ("gpt_data_parallel.py", "--size 100M --way ddp --warm 16", ["lossless"]),
    ("cnn.py", "--width 64 --batch 32 --warm 60", ["lossless"]),
]
# With tensor- and pipeline-parallel ranks alone, mzhybrid is lossless.
MESH: dict[str, tuple[str, list[str]]] = {
    "dp": ("--dp 2", ["lossless", "mzhybrid", "zhybrid", NAIVE]),
    "tp": ("--tp 2 --batch 16", ["lossless", "zhybrid", NAIVE]),
    "pp": ("--pp 2 --batch 64 --micro 4", ["lossless", "zhybrid", NAIVE]),
}
# What FSDP2 is trained under: parameters are coded, too, where "*" is.
CONVERGE = [
    "none",
    "lossless",
    GRADIENTS,
    "mzhybrid",
    *(f'{{"*": {{"*": "zfp:rate={rate}"}}}}' for rate in (16, 10, 8, 4)),
]


def speed(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    for script, words, policies in SPEED:
        yield from timed(given, gpus, [script, *(given.words or words).split()], policies)


def mesh(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    for name, (shape, policies) in MESH.items():
        words = given.words or "--size 20M --warm 24"
        if name in (given.mesh or (name,)):
            yield from timed(given, gpus, ["gpt_mesh.py", *shape.split(), *words.split()], policies)


def near(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    words = given.words or "--size 100M --dtype bf16 --warm 20 --steps 100"
    yield from timed(given, gpus, ["gpt_data_parallel.py", *words.split()], ["lossless"])


def timed(
    given: argparse.Namespace, gpus: bool, example: list[str], policies: list[str]
) -> Iterator[list[str]]:
    """Without compression and with, equal bits where nothing is lost."""
    hosts = str(given.hosts)
    lab = [*THINWIRE, "lab", "run", "--hosts", hosts, "--link", given.link, "--every-host", "--"]
    ranks = [*TORCHRUN, "--standalone", "--nproc-per-node", hosts]
    program = [str(HERE / example[0]), *example[1:], "--json", str(given.json), "--deterministic"]
    for policy in ("none", *policies):
        if policy in (given.policy or (policy,)):
            before = [] if policy == "none" else _preload(given, gpus)
            words = ["--share"] if policy == "none" else ["--policy", policy]
            if given.what == "near":
                yield [*before, *ranks, *program, *words]
            else:
                yield [*lab, *before, sys.executable, *program, *words]


def converge(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    words = given.words or "--size 5M --batch 16 --steps 300 --rate 1e-3"
    ranks = ["--standalone", "--nproc-per-node", str(given.hosts)]
    end = [str(HERE / "gpt_data_parallel.py"), *words.split(), "--json", str(given.json)]
    end += ["--deterministic", "--seeds", str(given.seeds)]
    for policy in given.policy or CONVERGE:
        # Convergence is of what codecs do, whatever the network.
        before = [] if policy == "none" else _preload(given, gpus, "--same-node", "--force")
        yield [*before, *TORCHRUN, *ranks, *end, "--policy", policy]


def _preload(given: argparse.Namespace, gpus: bool, *options: str) -> list[str]:
    if not gpus:
        return []
    report = ["--report", str(given.reports / f"{time.monotonic_ns()}")] if given.reports else []
    return [*THINWIRE, "run", "--nccl", *options, *report, "--"]


def run(command: list[str], given: argparse.Namespace, end: float) -> bool:
    """Whether it came to its end in time."""
    print(subprocess.list2cmdline(command), flush=True)
    begin = time.monotonic()
    if begin >= end:
        print("LEFT OUT: --total is over", flush=True)
        return False
    # Without the preload library: its command line says it.
    own = {"THINWIRE_SAME_NODE": "1"} if given.what == "converge" else {}
    process = subprocess.Popen(command, env=os.environ | own, start_new_session=True)
    try:
        code: int | str = process.wait(timeout=min(given.limit, end - begin))
    except subprocess.TimeoutExpired:
        code = "not in time"
        stop(process)
    what = "done" if code == 0 else f"FAILED: {code}"
    print(f"{what}, {time.monotonic() - begin:.1f} s: {command[-1]}", flush=True)
    return code == 0


def stop(process: subprocess.Popen[bytes]) -> None:
    """A launcher ends its ranks, given time."""
    for each in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, each)
        try:
            process.wait(timeout=8)
        except subprocess.TimeoutExpired:
            continue
        return


STUDIES = {"speed": speed, "mesh": mesh, "near": near, "converge": converge}


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=(*STUDIES, "table"))
    options.add_argument("file", type=Path, nargs="?", help="for table")
    options.add_argument("--hosts", type=int, default=2, help="hosts of the lab, or ranks")
    options.add_argument("--link", default="10gbit")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--words", help="the examples' words in place of the study's own")
    options.add_argument("--policy", action="append", help="this one of the study's alone")
    options.add_argument("--mesh", action="append", choices=MESH, help="of these ranks alone")
    options.add_argument("--at-once", type=int, default=1, help="so many runs of converge")
    options.add_argument("--limit", type=float, default=float("inf"), help="seconds of a run")
    options.add_argument("--total", type=float, default=float("inf"), help="seconds of all runs")
    options.add_argument("--reports", type=Path, help="a folder for the preload library's")
    options.add_argument("--json", type=Path, default=Path("runs.json"))
    options.add_argument("--print", action="store_true", help="say the commands, run nothing")
    given = options.parse_args()
    if given.what == "table":
        print("\n".join(tables(given.file or given.json)))
        return 0
    import torch

    commands = list(STUDIES[given.what](given, torch.cuda.is_available()))
    if given.print:
        print("\n".join(subprocess.list2cmdline(command) for command in commands))
        return 0
    # Runs that are timed have the machine to themselves.
    at_once = given.at_once if given.what == "converge" else 1
    end = time.monotonic() + given.total
    with ThreadPoolExecutor(at_once) as pool:
        well = list(pool.map(lambda command: run(command, given, end), commands))
    if given.json.exists():
        print("\n".join(tables(given.json)))
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
