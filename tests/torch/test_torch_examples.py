"""The programs of examples/torch at their smallest, over gloo: they run, and what they promise."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from torch_jobs import HERE, PYTHON, ROOT, environment, needs_torch

pytestmark = [needs_torch, pytest.mark.multiproc]
EXAMPLES = ROOT / "examples" / "torch"
LEAST = ["--min-bytes", "1KiB"]


def policies(*names: str) -> list[str]:
    return [word for name in names for word in ("--policy", name)]


def run(folder: Path, *jobs: list[Any], seconds: float = 240) -> list[dict[str, Any]]:
    """What the jobs write, in order."""
    told = folder / "told.json"
    texts = [json.dumps([*job, "--json", str(told)]) for job in jobs]
    command = [PYTHON, HERE / "fork_ranks.py", str(seconds), *texts]
    done = subprocess.run(
        command,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60 + seconds * len(jobs),
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return [json.loads(line) for line in told.read_text().splitlines()]


def ratio(run: dict[str, Any], what: str) -> float:
    return run["stats"][f"/{what}/ratio"]


def test_the_examples_train(tmp_path: Path) -> None:
    gradients = '{"*": {"gradients": "blockq", "parameters": "lossless"}}'
    three = policies("none", "lossless", gradients)
    cnn, gpt = ["cnn.py", "--deterministic"], ["gpt_data_parallel.py", "--way"]
    cube = ["--pp", 2, "--dp", 2, "--tp", 2]
    told = run(
        tmp_path,
        [2, *cnn, "--steps", 2, "--batch", 4, *LEAST, *three],
        [2, *gpt, "fsdp2", "--steps", 2, "--batch", 2, "--share", *LEAST, *three],
        [
            4,
            "gpt_mesh.py",
            "--dp",
            2,
            "--tp",
            2,
            "--steps",
            2,
            "--batch",
            2,
            "--share",
            *LEAST,
            *three,
        ],
        [2, "all_to_all.py", "--largest", 12, "--warm-ups", 2, "--trials", 2],
        [2, *gpt, "ddp", "--steps", 2, "--batch", 2],
        [2, *gpt, "ddp", "--steps", 2, "--batch", 2, "--per-hop"],
        [8, "gpt_mesh.py", *cube, "--steps", 2, "--batch", 2, *LEAST, *three[:4]],
    )
    for at, group, operation in ((0, "dp", "allreduce"), (3, "dp_shard", "reduce-scatter")):
        none, lossless, lossy = told[at : at + 3]
        assert none["losses"] == lossless["losses"] != lossy["losses"], none["example"]
        assert (
            1 < ratio(lossless, f"{group}/{operation}") < 3 < ratio(lossy, f"{group}/{operation}")
        )
    assert told[3]["communication"] >= 0 and told[3]["validation"] < 6
    assert all(each["alone_ms"] > 0 for each in told[3:9])
    assert all(0 < each["median_ms"] <= each["p95_ms"] for each in told[:9])
    assert [each["timed_calls"][1] > 0 for each in told[:9]] == [False, True, True] * 3
    # Tensor-parallel ranks see equal bits, and a lossy codec nothing but gradients of "dp".
    none, lossless, lossy = told[6:9]
    assert none["losses"] == lossless["losses"] and all(each["same"] for each in told[6:9])
    assert set(lossy["stats"]) and all(name.startswith("/dp/") for name in lossy["stats"])
    # The mesh learns what data-parallel ranks learn.
    assert none["losses"] == pytest.approx(told[3]["losses"], rel=1e-5)
    assert all(row["error"] == 0 for row in told[9]["rows"])
    none, lossless = told[12:14]
    assert lossless["losses"] == none["losses"] and lossless["same"]
    assert none["losses"] == pytest.approx(told[6]["losses"], rel=1e-4)
    # A ring of two ranks adds the same two numbers.
    assert told[10]["losses"] == told[11]["losses"] and told[11]["policy"] == "per-hop off"


def line(policy: str, median: float, sent: int, losses: list[float], **more: Any) -> str:
    figures = {"example": "one", "policy": policy, "median_ms": median, "p95_ms": 2 * median}
    return json.dumps(figures | {"sent_bytes": sent, "losses": losses} | more) + "\n"


def test_tables(tmp_path: Path) -> None:
    lines = [
        line("none", 100, 4000, [2.0, 1.0], communication=0.8),
        line("lossless", 62.5, 2000, [2.0, 1.0], stats={"/dp/allgather/calls": 4}),
        line("szp", 62.5, 2000, [2.0, 1.0], stats={}, timed_calls=[4, 3]),
        line("blockq", 50, 1000, [2.0, 1.25], stats={"/dp/allreduce/calls": 4.0}),
        line("szp", 50, 2000, [2.0, 1.0], stats={}, timed_calls=[4, 3]),
        line("none", 10, 0, [2.0], communication=0.0),
        line("none", 1, 0, [5.0], example="two"),
        line("none", 1, 0, [6.0], example="two"),
    ]
    path = tmp_path / "runs.json"
    path.write_text("".join(lines))
    command = [sys.executable, EXAMPLES / "study.py", "table", path]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in told.splitlines() if row]
    assert rows[2] == ["one", "`none`", "100", "200", "80%", "0.004", *[""] * 5]
    # A ratio of 2 on 0.8 of a step leaves 0.6 of it.
    assert rows[3][5:] == ["0.002", "2.00", "1.60", "1.50", "0%", "equal"]
    # The mean of two runs, and what lies between them.
    assert rows[4][2:4] == ["56.25 (50 to 62.5)", "112.5"] and rows[4][7] == "1.78"
    assert rows[4][-2] == "75%"
    assert rows[5][5:] == ["0.001", "4.00", "2.00", "2.25", "0%", "within 0.25"]
    assert rows[6][:3] == ["one, one machine", "`none`", "10"]
    assert rows[-1][:3] == ["two, one machine", "`none`", "2"] and "5.5 ± 0.707" in rows[-1]


def test_a_study_goes_on_behind_a_run_that_fails(tmp_path: Path) -> None:
    words = ["mesh", "--mesh", "dp", "--limit", "0.5", "--json", str(tmp_path / "runs.json")]
    command = [PYTHON, EXAMPLES / "study.py", *words, "--policy", "none", "--policy", "lossless"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("FAILED") == 2, done.stdout
    done = subprocess.run([*command, "--total", "0"], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1 and done.stdout.count("LEFT OUT") == 2, done.stdout


@pytest.mark.slow
def test_eight_ranks_on_a_mesh_of_three_dimensions(tmp_path: Path) -> None:
    """2 x 2 x 2 under the presets, all-lossless and all-zfp; four ranks in the other shapes."""
    naive = '{"*": {"*": "zfp:rate=8"}}'
    words = ["--steps", 6, "--rate", "3e-3", *LEAST]
    presets = policies("none", "lossless", "mzhybrid", "zhybrid", naive)
    told = run(
        tmp_path,
        [8, "gpt_mesh.py", "--pp", 2, "--dp", 2, "--tp", 2, *words, *presets],
        [4, "gpt_mesh.py", "--pp", 2, "--dp", 1, "--tp", 2, *words, *policies("none")],
        [4, "gpt_mesh.py", "--pp", 2, "--dp", 2, "--tp", 1, *words, *presets],
        seconds=400,
    )
    for runs in (told[:5], told[6:]):
        none, lossless, mzhybrid, zhybrid, everything = (each["losses"] for each in runs)
        assert lossless == none and mzhybrid == zhybrid
        assert mzhybrid == pytest.approx(none, rel=0.01) and mzhybrid != none
        assert everything[-1] != mzhybrid[-1]
        assert all(each["same"] for each in runs)
    assert told[0]["losses"] == pytest.approx(told[6]["losses"], rel=1e-4)


def needs(*modules: str) -> None:
    """`make test-all` installs them."""
    found = subprocess.run(
        [PYTHON, "-c", f"import {', '.join(modules)}"], capture_output=True, timeout=200
    )
    if found.returncode:
        pytest.skip(f"{' and '.join(modules)} are not in torch's environment")


def test_transformers_by_accelerate(tmp_path: Path) -> None:
    needs("accelerate", "transformers")
    (told,) = run(tmp_path, [2, "hf_accelerate.py", "--steps", 3])
    assert told["ranks"] == 2 and told["losses"][0] > told["losses"][-1]


def test_a_transformer_by_lightnings_trainer(tmp_path: Path) -> None:
    """The Trainer starts the second rank itself."""
    needs("pytorch_lightning")
    told = tmp_path / "told.json"
    command = [PYTHON, EXAMPLES / "lightning_transformer.py", "--steps", "20", "--json", told]
    done = subprocess.run(
        command, env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    (line,) = told.read_text().splitlines()
    trained = json.loads(line)
    assert trained["ranks"] == 2 and trained["losses"][0] > trained["losses"][-1]


# The script of docs/guide/pytorch.md, started as the page says.


def test_the_guides_script_prints_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "pytorch.md").read_text()
    script = re.search(r"<!-- example: file hooked.py -->\n```python\n(.*?)```", page, re.S)
    said = re.search(r"```text\n(.*?)```", page, re.S)
    assert script and said
    (tmp_path / "hooked.py").write_text(script[1])
    command = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    run = subprocess.run(
        [*command, "hooked.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert said[1].strip() in run.stdout, run.stdout
