"""The programs of examples/dask on a cluster of this host; they verify their results themselves."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "dask"

pytestmark = [
    pytest.mark.multiproc,
    pytest.mark.skipif(find_spec("distributed") is None, reason="no distributed"),
]

# Starts a cluster of two workers, and the program with its address.
START = """
import runpy, sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        program, *words = sys.argv[1:]
        sys.argv = [program, cluster.scheduler_address, *words]
        runpy.run_path(program, run_name="__main__")
"""


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    paths = [str(FOLDER), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", START, str(FOLDER / name), *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


SMALL = ("--size", "1200", "--chunk", "300", "--repeats", "1", "--same-host", "--force")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("transpose_sum.py", ("--codec", "lossless", "--codec", "zfp:rate=12")),
        pytest.param(
            "transpose_sum.py",
            ("--codec", "lossless", "--operation", "shuffle"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "exchange.py",
            ("--codec", "lossless", "--codec", "szp:abs=1e-3"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_results_are_verified_and_arrays_compressed(name: str, words: tuple[str, ...]) -> None:
    done = run(name, *words, *SMALL)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = {row["way"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert set(rows) == {"plain", *(word for word in words if word[:4] in ("loss", "zfp:", "szp:"))}
    for way, row in rows.items():
        assert (row["compressed"] > 0) == (way != "plain"), row
        assert way in ("plain", "lossless") or row["ratio"] > 2, row


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--array", "torch"), "exchange.py sends those"),
        (("--operation", "shuffle", "--codec", "zfp:rate=8"), "the mark of a lossy codec"),
    ],
)
def test_what_the_transpose_cannot_do_it_says(words: tuple[str, ...], message: str) -> None:
    done = run("transpose_sum.py", *words)
    assert done.returncode == 2 and message in done.stderr
