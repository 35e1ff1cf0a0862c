"""Whether tensor-parallel ranks keep the same bits if their data-parallel groups have links of
other rates, so that each group by itself would find something else to pay.

    python bench/studies/training/siblings.py [--slow 1gbit] [--fast none] [--steps 120]
        [--words "..."]

Trains examples/torch/gpt_mesh.py on (pp, dp, tp) = (1, 2, 2) under `mzhybrid`, on four hosts of the
lab, one rank each: ranks 0 and 2 sum over one group, 1 and 3 over another. First with all links
slow, then with all fast, which says what each group would decide alone, then with the first
group's links slow and the second's fast. Hosts share GPUs if there are fewer. With GPUs under
the preload library for NCCL, else over gloo by thinwire.torch's hooks. `python` must have PyTorch
and thinwire.

Prints a line of JSON for each run: `same`, whether the ranks' common parameters (norms, embeddings)
have equal bits, losses, and what was decided of each kind of sums by each group. Ends with 0 if all
are the same.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from thinwire.bench.nccl_ranks import exit_codes
from thinwire.lab import Lab

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "torch" / "gpt_mesh.py"
RANKS = 4
GROUPS = ((0, 2), (1, 3))  # of data-parallel ranks
RUNS = ("slow, slow", "fast, fast", "slow, fast")
SHAPE = """
import sys
from pyroute2 import IPRoute
from thinwire.lab.addresses import INTERFACE
from thinwire.lab.shaping import parse_link, shape
with IPRoute() as netlink:
    shape(netlink, netlink.link_lookup(ifname=INTERFACE)[0], parse_link(sys.argv[1]))
"""


def train(rates: list[str], given: argparse.Namespace, folder: Path, gpus: bool) -> dict[str, Any]:
    """One run; `rates` are those at which each group's hosts send."""
    told, report = folder / "told.json", folder / "report"
    words = ["--dp", "2", "--tp", "2", "--steps", str(given.steps), "--deterministic"]
    words += ["--policy", given.policy, "--json", str(told), *given.words.split()]
    before = [sys.executable, "-m", "thinwire", "run", "--nccl", "--report", str(report), "--"]
    command = [*(before if gpus else []), sys.executable, str(EXAMPLE), *words]
    env = dict(os.environ)
    if not gpus:
        env |= {"THINWIRE_SAME_NODE": "1", "OMP_NUM_THREADS": "1"}
    with Lab(hosts=RANKS, link="none") as lab:
        for ranks, rate in zip(GROUPS, rates, strict=True):
            for rank in ranks:
                shape = [sys.executable, "-c", SHAPE, rate]
                lab.run(shape, host=rank, env=env, check=True)
        errors = [folder / f"errors{rank}" for rank in range(RANKS)]
        with open(os.devnull, "w") as nothing:
            started = lab.popen_everywhere(
                ["sh", "-c", 'exec "$@" 2> "$0$RANK"', str(folder / "errors"), *command],
                env=env,
                stdout=nothing,
            )
        codes = exit_codes(started, given.limit)
    if any(codes):
        said = "\n".join(each.read_text()[-2000:] for each in errors if each.exists())
        sys.exit(f"ranks ended with {codes}:\n{said}")
    found = json.loads(told.read_text().splitlines()[-1])
    kept = {name: found[name] for name in ("same", "step_ms", "losses")}
    kept["losses"] = [*kept["losses"][:1], *kept["losses"][-1:]]
    kept["stats"] = found["stats"] if not gpus else {}
    kept["groups"] = [decided(report, ranks[0]) for ranks in GROUPS] if gpus else []
    return kept


def decided(report: Path, rank: int) -> dict[str, Any]:
    """Of the data-parallel sums of a rank: what they took and which way they go."""
    path = report.with_name(f"{report.name}.nccl.rank{rank}")
    found: dict[str, Any] = {"sums": [], "raw": {}}
    for each in json.loads(path.read_text())["communicators"]:
        if each["name"] != "dp":
            continue
        for name in ("ReduceScatter", "AllReduce"):
            of = each["operations"].get(name)
            if of is None:
                continue
            found["raw"][name] = of["raw_by_reason"]
            found[name] = [of["compressed_calls"], of["calls"]]
        found["sums"] += [
            {
                "bytes": row["least_bytes"],
                "codec": row["codec"],
                "raw_us": row["raw_nanoseconds"] / 1e3,
                "compressed_us": row["compressed_nanoseconds"] / 1e3,
                "way": row["way"],
            }
            for row in each["timed"]
            if row["operation"] in ("ReduceScatter", "AllReduce")
        ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slow", default="1gbit")
    parser.add_argument("--fast", default="none", help="none: not shaped")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--policy", default="mzhybrid")
    parser.add_argument("--words", default="--size 5M --batch 16 --rate 1e-3", help="the example's")
    parser.add_argument("--run", action="append", choices=RUNS, help="these alone")
    parser.add_argument("--limit", type=float, default=600, help="seconds of a run")
    given = parser.parse_args()
    import torch

    gpus = torch.cuda.is_available()
    same = True
    for run in given.run or RUNS:
        rates = [{"slow": given.slow, "fast": given.fast}[word] for word in run.split(", ")]
        with tempfile.TemporaryDirectory() as folder:
            found = train(rates, given, Path(folder), gpus)
        print(json.dumps({"links": rates, "steps": given.steps, **found}), flush=True)
        same = same and found["same"]
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
