"""Training scripts of others on two GPUs, natively and under the preload library for NCCL: whether
what they learn is the same. Their sources lie in a folder that you fill; the table below says what
of which project, at the commits that docs/results name.

    python tests/programs/torch_scripts.py SOURCES [--only NAME,...] [--limit SECONDS] [--json FILE]

Every run is in a fresh copy of the script's folder: twice natively, to see whether two native runs
are equal, then with the codecs forced: `lossless,reductions=native`, which leaves sums to NCCL, and
`lossless`. Only arguments are ours. Prints a line of JSON a run; exits with 1 where a run failed,
or where native runs are equal and one under the library is not.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THRESHOLD = "4KiB"  # some of the models are small
WAYS = ("native", "native again", "lossless,reductions=native", "lossless")


@dataclass(frozen=True)
class Script:
    """What is run in `folder` of the sources. Its results are what `pattern` finds in the first
    rank's output, and the bits of the `files` that it has written."""

    folder: str
    words: str
    pattern: str = "$^"
    files: str = ""
    needs: str = ""  # of Python's modules, those that it cannot do without


def _deepspeed(stage: int) -> Script:
    return Script(
        "deepspeed_example",  # training/bf16_master_weight of DeepSpeedExamples
        f"train.py --deepspeed_config zero{stage}.json --hidden_dim 512 --num_layers 4 "
        "--num_heads 8 --vocab_size 2000 --batch_size 4 --seq_length 128 --num_steps 40 "
        "--loss_log_file losses.csv",
        files="losses.csv",
        needs="deepspeed",
    )


SCRIPTS = {
    "nanoGPT": Script(
        "nanoGPT",
        "train.py config/train_shakespeare_char.py --compile=False --gradient_accumulation_steps=2 "
        "--max_iters=80 --eval_interval=40 --eval_iters=4 --log_interval=1",
        pattern=r"(?:iter|step) \d+: .*?loss [\d.]+(?:, val loss [\d.]+)?",
    ),
    "nanoGPT compiled": Script(
        "nanoGPT",
        "train.py config/train_shakespeare_char.py --gradient_accumulation_steps=2 "
        "--max_iters=80 --eval_interval=40 --eval_iters=4 --log_interval=1",
        pattern=r"(?:iter|step) \d+: .*?loss [\d.]+(?:, val loss [\d.]+)?",
    ),
    "PyTorch's FSDP2": Script(
        "examples/distributed/FSDP2",
        "example.py --mixed-precision",
        files="checkpoints/*/*/*.pt",
    ),
    "PyTorch's minGPT-ddp": Script(
        "examples/distributed/minGPT-ddp/mingpt",
        "main.py data_config.path=data/input.txt data_config.truncate=0.02 "
        "trainer_config.save_every=1 trainer_config.max_epochs=1 trainer_config.batch_size=64",
        pattern=r"(?:Train|Eval) Loss [\d.]+",
        files="gpt_snapshot.pt",
        needs="hydra boto3 fsspec",
    ),
    **{f"DeepSpeed ZeRO {stage}": _deepspeed(stage) for stage in (1, 2, 3)},
    "Megatron-Core": Script(
        "mcore_example",  # Megatron-LM's run_simple_mcore_train_loop.py, with megatron/core
        "train.py",
        pattern=r"Iteration \d+: Losses reduced: .*",
        needs="megatron",
    ),
    **{
        f"accelerate's {name}": Script(
            ".", f"-m accelerate.test_utils.scripts.{name}", needs="accelerate"
        )
        for name in ("test_script", "test_sync", "test_ops")
    },
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(SCRIPTS))
    parser.add_argument("--limit", type=float, default=120, help="seconds a run")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    right = True
    for name, script in ((name, SCRIPTS[name]) for name in given.only):
        folder = given.sources / script.folder
        lacks = [module for module in script.needs.split() if not _is_there(module, folder)]
        if lacks:
            print(f"skipped: {name}: there is no {', '.join(lacks)}", flush=True)
            continue
        runs: list[dict[str, Any]] = []
        for way in WAYS:
            runs.append(
                {"script": name, "way": way, **run(given.sources, script, way, given.limit)}
            )
            runs[-1]["equal"] = runs[-1]["results"] == runs[0]["results"]
            text = json.dumps(runs[-1])
            print(text if "failed" in runs[-1] else json.dumps(shortened(runs[-1])), flush=True)
            if given.json:
                with given.json.open("a") as file:
                    file.write(text + "\n")
        same = all(each["equal"] for each in runs)
        right &= not any("failed" in each for each in runs) and (same or not runs[1]["equal"])
    return 0 if right else 1


def _is_there(module: str, folder: Path) -> bool:
    """Installed, or beside the script."""
    words = [sys.executable, "-c", f"import {module}"]
    return subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode == 0


def shortened(told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "results": told["results"][-2:]}


def run(sources: Path, script: Script, way: str, limit: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="torch-script-") as name:
        folder, report = Path(name, "work"), Path(name, "report")
        if script.folder == ".":
            folder.mkdir()
        else:
            shutil.copytree(sources / script.folder, folder)
        _write_configurations(folder)
        words = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            "2",
        ]
        words += script.words.split()
        if not way.startswith("native"):
            library = [sys.executable, "-m", "thinwire", "run", "--nccl", "--same-node", "--force"]
            library += ["--threshold", THRESHOLD, "--report", str(report), "--codec", way, "--"]
            words = [*library, *words]
        begin = time.monotonic()
        told = _finish(words, folder, limit)
        told["seconds"] = round(time.monotonic() - begin, 1)
        told["results"] = re.findall(script.pattern, told.pop("output"))
        found = sorted(folder.glob(script.files)) if script.files else []
        for path in found:
            last = path.read_text().split()[-1:] if path.suffix == ".csv" else []
            told["results"] += [" ".join([path.name, _digest(path), *last])]
        if script.files and not found:
            told.setdefault("failed", f"it wrote no {script.files}")
        return told | counted(report.parent.glob("report*"))


def _finish(words: list[str], folder: Path, limit: float) -> dict[str, Any]:
    """The whole group of processes ends with its time."""
    with Path(folder.parent, "output").open("w+") as output:
        job = subprocess.Popen(
            words, cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            job.wait(limit)
            why = f"it ended with {job.returncode}" if job.returncode else ""
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            why = f"it had not ended after {limit:.0f} s"
        output.seek(0)
        text = output.read()
    # The fault stands before torchrun's own account of it.
    said = re.split(r"\n.*ChildFailedError|\nE\d{4} .*failed \(exitcode", text)[0][-1500:]
    return {"output": text, **({"failed": f"{why}: {said}"} if why else {})}


def _write_configurations(folder: Path) -> None:
    """DeepSpeed's; plain Adam, as its own has to be compiled."""
    for stage in (1, 2, 3):
        told = {
            "train_micro_batch_size_per_gpu": 4,
            "bf16": {"enabled": True},
            "zero_optimization": {"stage": stage},
            "optimizer": {"type": "Adam", "params": {"lr": 1e-3, "torch_adam": True}},
        }
        Path(folder, f"zero{stage}.json").write_text(json.dumps(told))


def _digest(path: Path) -> str:
    """Of the values, where torch wrote them: its archives hold times and names besides."""
    if path.suffix != ".pt":
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    import torch

    kept = hashlib.sha256()

    def take(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            kept.update(value.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
        elif isinstance(value, dict):
            for key in sorted(value, key=str):
                take(value[key])

    take(torch.load(path, map_location="cpu", weights_only=False))
    return kept.hexdigest()[:16]


def counted(reports: Any) -> dict[str, Any]:
    """What the ranks' reports say of calls from the threshold on."""
    sums = {
        "calls": 0,
        "compressed_calls": 0,
        "bytes": 0,
        "wire_bytes": 0,
        "below the threshold": 0,
    }
    for path in reports:
        for communicator in json.loads(path.read_text())["communicators"]:
            for row in communicator["operations"].values():
                for name in ("calls", "compressed_calls", "bytes", "wire_bytes"):
                    sums[name] += row[name]
                sums["below the threshold"] += row["raw_by_reason"].get("below the threshold", 0)
    return sums if sums["calls"] else {}


if __name__ == "__main__":
    sys.exit(main())
