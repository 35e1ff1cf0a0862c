"""The studies of this folder: starts its examples under many policies, and makes tables.

    python study.py speed --link 10gbit      20 steps each, two hosts of the lab, a GPU each
    python study.py mesh --link 10gbit       the same of the GPT on meshes of two and of four hosts
    python study.py near                     FSDP2 on one machine, where nothing is to be compressed
    python study.py converge --seeds 3       two ranks of this machine, codecs forced
    python study.py converge-mesh --seeds 3  the same of a mesh of four ranks
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
from itertools import pairwise
from math import prod
from pathlib import Path

from tables import tables

HERE = Path(__file__).parent
THINWIRE = [sys.executable, "-m", "thinwire"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
GRADIENTS = '{"*": {"gradients": "blockq", "parameters": "lossless"}}'
GPT = "gpt_data_parallel.py"
RATES = ["zfp:rate=16", "zfp:rate=8"]


def naive(rate: int) -> str:
    """Everything, all of the same rate."""
    return f'{{"*": {{"*": "zfp:rate={rate}"}}}}'


NAIVE = naive(8)
PRESETS = ["lossless", "mzhybrid", "zhybrid", NAIVE]

# An example, its words, and what it is timed under. In the steps before, the ranks find out how
# small calls of each kind become, and whether that pays. A codec alone is that of each message of
# the ring that then carries DDP's sums.
PER_HOP = "per-hop "
SPEED: dict[str, tuple[str, str, list[str]]] = {
    "fsdp2": (GPT, "--size 100M --dtype bf16 --warm 16", ["lossless", GRADIENTS]),
    "ddp-bf16": (GPT, "--size 100M --dtype bf16 --way ddp --warm 24", ["lossless"]),
    "ddp": (
        GPT,
        "--size 100M --way ddp --warm 16",
        ["lossless", *RATES, *(PER_HOP + rate for rate in RATES)],
    ),
    "cnn": ("cnn.py", "--width 64 --batch 32 --warm 60", ["lossless"]),
}
# By (pp, dp, tp). With tensor- and pipeline-parallel ranks alone, mzhybrid is lossless. A pipeline
# has few messages a step, whose kind is decided after some 140. Small layers that are split over
# tensor-parallel ranks wait for Python, not for the link.
MESH: dict[str, tuple[str, list[str]]] = {
    "dp": ("--dp 2 --warm 24 --size 20M", ["lossless", "mzhybrid", "zhybrid", NAIVE]),
    "tp": ("--tp 2 --batch 16 --warm 24 --size 20M", ["lossless", "zhybrid", NAIVE]),
    "pp": ("--pp 2 --batch 64 --micro 4 --warm 40 --size 20M", ["lossless", "zhybrid", NAIVE]),
    "1,2,2": ("--pp 1 --dp 2 --tp 2 --batch 16 --warm 24 --size 100M", PRESETS),
    "2,1,2": ("--pp 2 --dp 1 --tp 2 --batch 96 --micro 4 --warm 40 --size 100M", PRESETS),
    "2,2,1": ("--pp 2 --dp 2 --tp 1 --batch 64 --micro 4 --warm 40 --size 20M", PRESETS),
}
# Settings under which FSDP2 is trained: parameters are coded, too, if "*" is.
CONVERGE = ["none", "lossless", GRADIENTS, "mzhybrid", *(naive(rate) for rate in (16, 10, 8, 4))]
# Settings under which what the hybrids leave exact is compressed naively as well, which is to hurt.
CONVERGE_MESH = ["none", "lossless", "mzhybrid", "zhybrid", naive(8), naive(4)]


def speed(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    for name, (script, words, policies) in SPEED.items():
        if name in (given.program or (name,)):
            yield from timed(given, gpus, [script, *(given.words or words).split()], policies)


def mesh(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    for name, (shape, policies) in MESH.items():
        example = ["gpt_mesh.py", *shape.split(), *(given.words or "").split()]
        if name in (given.mesh or (name,)):
            yield from timed(given, gpus, example, policies, ranks_of(shape))


def ranks_of(shape: str) -> int:
    sizes = [n for name, n in pairwise(shape.split()) if name in ("--pp", "--dp", "--tp")]
    return prod(map(int, sizes))


def near(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    words = given.words or "--size 100M --dtype bf16 --warm 20 --steps 100"
    # By turns: what such runs take differs by more than what is looked for.
    yield from timed(given, gpus, [GPT, *words.split()], ["lossless", "none", "lossless"])


def timed(
    given: argparse.Namespace, gpus: bool, example: list[str], policies: list[str], hosts: int = 0
) -> Iterator[list[str]]:
    """Without compression and with, equal bits where nothing is lost."""
    hosts = hosts or given.hosts
    ranks = [*TORCHRUN, "--standalone", "--nproc-per-node", str(hosts)]
    program = [str(HERE / example[0]), *example[1:], "--json", str(given.json), "--deterministic"]
    for policy in given.policy or ("none", *policies):
        if policy in ("none", *policies):
            before = [] if policy == "none" else _preload(given, gpus)
            words = ["--share"] if policy == "none" else ["--policy", policy]
            if policy.startswith(PER_HOP):
                if not gpus:
                    continue  # nothing would compress its messages
                before = _preload(given, gpus, "--codec", policy.removeprefix(PER_HOP))
                words = ["--per-hop"]
            if given.what == "near":
                yield [*before, *ranks, *program, *words]
            else:
                yield [*lab(hosts, given.link), *before, sys.executable, *program, *words]


def lab(hosts: int, link: str) -> list[str]:
    """A rank on each host. Hosts share GPUs where there are fewer."""
    return [*THINWIRE, "lab", "run", "--hosts", str(hosts), "--link", link, "--every-host", "--"]


def converge(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    words = given.words or "--size 5M --batch 16 --steps 300 --rate 1e-3"
    ranks = [*TORCHRUN, "--standalone", "--nproc-per-node", str(given.hosts)]
    yield from forced(given, gpus, [GPT, *words.split()], CONVERGE, [], ranks)


def converge_mesh(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    words = given.words or "--size 5M --batch 16 --steps 300 --rate 1e-3"
    for name in given.mesh or ["1,2,2"]:
        shape = MESH[name][0]
        example = ["gpt_mesh.py", *shape.split(), "--warm", "0", *words.split()]
        before, start = lab(ranks_of(shape), "none"), [sys.executable]
        if not gpus:
            before = []
            start = [*TORCHRUN, "--standalone", "--nproc-per-node", str(ranks_of(shape))]
        # With GPUs hosts of the lab, as NCCL takes a GPU once a host: four ranks may share two.
        yield from forced(given, gpus, example, CONVERGE_MESH, before, start)


def forced(
    given: argparse.Namespace,
    gpus: bool,
    example: list[str],
    policies: list[str],
    before: list[str],
    ranks: list[str],
) -> Iterator[list[str]]:
    """Convergence is of what codecs do, whatever the network."""
    end = [str(HERE / example[0]), *example[1:], "--json", str(given.json)]
    end += ["--deterministic", "--seeds", str(given.seeds)]
    for policy in given.policy or policies:
        preload = [] if policy == "none" else _preload(given, gpus, "--same-node", "--force")
        yield [*before, *preload, *ranks, *end, "--policy", policy]


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
    forced = {"THINWIRE_SAME_NODE": "1", "THINWIRE_FORCE": "1"}
    own = forced if given.what.startswith("converge") else {}
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


STUDIES = {
    "speed": speed,
    "mesh": mesh,
    "near": near,
    "converge": converge,
    "converge-mesh": converge_mesh,
}


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=(*STUDIES, "table"))
    options.add_argument("file", type=Path, nargs="?", help="for table")
    options.add_argument(
        "--hosts", type=int, default=2, help="hosts of the lab, or ranks, but of mesh"
    )
    options.add_argument("--link", default="10gbit")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--words", help="the examples' words in place of the study's own")
    options.add_argument("--policy", action="append", help="these of the study's alone, in order")
    options.add_argument("--program", action="append", choices=SPEED, help="of speed, this alone")
    options.add_argument("--mesh", action="append", choices=MESH, help="of mesh, this alone")
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
    at_once = given.at_once if given.what.startswith("converge") else 1
    end = time.monotonic() + given.total
    with ThreadPoolExecutor(at_once) as pool:
        well = list(pool.map(lambda command: run(command, given, end), commands))
    if given.json.exists():
        print("\n".join(tables(given.json)))
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
