"""The studies of this folder: starts its examples under many policies, and makes tables.

    python study.py speed --link 10gbit      20 steps each, two hosts of the lab, a GPU each
    python study.py converge --seeds 3       two ranks of this machine, codecs forced
    python study.py table runs.json          of the lines that runs have written (--json)

On a machine with GPUs each run but the raw ones is under the preload library (thinwire run --nccl),
elsewhere thinwire.torch's hooks carry the gradients. `python` must have PyTorch and thinwire.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
THINWIRE = [sys.executable, "-m", "thinwire"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
GRADIENTS = '{"*": {"gradients": "blockq", "parameters": "lossless"}}'

# An example, its words, and what it is timed under. In the steps before, the ranks find out how
# small calls of each kind become, and whether that pays.
SPEED: list[tuple[str, str, list[str]]] = [
    ("gpt_data_parallel.py", "--size 100M --dtype bf16 --warm 20", ["lossless", GRADIENTS]),
    ("gpt_data_parallel.py", "--size 100M --dtype bf16 --way ddp --warm 40", ["lossless"]),
    ("gpt_data_parallel.py", "--size 100M --way ddp --warm 40", ["lossless"]),
    ("cnn.py", "--width 64 --batch 128 --warm 80", ["lossless"]),
]
# What FSDP2 is trained under: parameters are coded, too, where "*" is.
CONVERGE = [
    "lossless",
    "mzhybrid",
    *(f'{{"*": {{"*": "zfp:rate={rate}"}}}}' for rate in (16, 10, 8, 4)),
]


def speed(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    lab = [*THINWIRE, "lab", "run", "--hosts", str(given.hosts), "--link", given.link, "--"]
    for script, words, policies in SPEED:
        end = [str(HERE / script), *(given.words or words).split(), "--json", str(given.json)]
        yield [*lab, *TORCHRUN, *end, "--share"]
        for policy in policies:
            yield [*lab, *_preload(gpus), *TORCHRUN, *end, "--policy", policy]


def converge(given: argparse.Namespace, gpus: bool) -> Iterator[list[str]]:
    words = given.words or "--size 5M --batch 16 --steps 300 --rate 1e-3 --deterministic"
    ranks = ["--standalone", "--nproc-per-node", str(given.hosts)]
    end = [str(HERE / "gpt_data_parallel.py"), *words.split(), "--json", str(given.json)]
    end += ["--seeds", str(given.seeds)]
    yield [*TORCHRUN, *ranks, *end]
    for policy in CONVERGE:
        before = [*_preload(gpus, "--same-node")]
        yield [*before, *TORCHRUN, *ranks, *end, "--policy", policy]


def _preload(gpus: bool, *options: str) -> list[str]:
    return [*THINWIRE, "run", "--nccl", *options, "--"] if gpus else []


def table(path: Path) -> Iterator[str]:
    """A row for each example and policy: means over seeds, with the standard deviation."""
    runs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_text().splitlines():
        run = json.loads(line)
        if "policy" in run:
            runs[run["example"], run["policy"]].append(run)
    columns = ("step_ms", "sent MB", "communication", "last loss", "validation", "accuracy")
    yield "| example | policy | seeds | " + " | ".join(columns) + " |"
    yield "|---" * (3 + len(columns)) + "|"
    for (example, policy), of_kind in runs.items():
        cells = [_cell(of_kind, column) for column in columns]
        yield f"| {example} | `{policy}` | {len(of_kind)} | " + " | ".join(cells) + " |"


def _cell(runs: list[dict[str, Any]], column: str) -> str:
    if column == "last loss":
        # A step's loss depends on its samples: of the last tenth.
        values = [statistics.mean(r["losses"][-max(1, len(r["losses"]) // 10) :]) for r in runs]
    elif column == "sent MB":
        values = [r["sent_bytes"] / 1e6 for r in runs if r.get("sent_bytes")]
    else:
        values = [r[column] for r in runs if column in r]
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.3g}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.5g}{spread}"


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=("speed", "converge", "table"))
    options.add_argument("file", type=Path, nargs="?", help="for table")
    options.add_argument("--hosts", type=int, default=2, help="hosts of the lab, or ranks")
    options.add_argument("--link", default="10gbit")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--words", help="the examples' words in place of the study's own")
    options.add_argument("--json", type=Path, default=Path("runs.json"))
    options.add_argument("--print", action="store_true", help="say the commands, run nothing")
    given = options.parse_args()
    if given.what == "table":
        print("\n".join(table(given.file or given.json)))
        return
    import torch

    # Convergence is of what codecs do, whatever the network.
    forced = {"THINWIRE_FORCE": "1", "THINWIRE_SAME_NODE": "1"} if given.what == "converge" else {}
    study = speed if given.what == "speed" else converge
    for command in study(given, torch.cuda.is_available()):
        print(subprocess.list2cmdline(command), flush=True)
        if not given.print:
            subprocess.run(command, check=True, env=os.environ | forced)
    if not given.print:
        print("\n".join(table(given.json)))


if __name__ == "__main__":
    main()
