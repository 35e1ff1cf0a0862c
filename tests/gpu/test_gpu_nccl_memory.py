"""What compressed sums make NCCL take of a GPU, and what the library expects and reports of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_gpu_programs import libnccl

from thinwire.lab import Lab, LabUnavailable

MEASURE = Path(__file__).resolve().parents[2] / "bench" / "memory" / "measure.py"
MIB = 1 << 20
ROUGHLY = 64  # MiB: kernels that are loaded as they are called first, and what lies between


@pytest.mark.gpu_alone
@pytest.mark.parametrize("layout", ["4x1", "2x2"])
def test_memory_of_connections_is_what_was_expected_at_most(layout: str) -> None:
    try:
        with Lab(hosts=1, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    ways = ["--way", "native", "--way", "raw", "--way", "compressed"]
    command = [sys.executable, str(MEASURE), "--library", libnccl(), "--layout", layout, *ways]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=500, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not rows:
        pytest.skip(done.stderr.strip())
    native, raw, compressed = rows
    assert compressed["compressed"] > 100 and raw["compressed"] == 0
    told = compressed["reported"]
    expected = told["connections"]["estimated_bytes"] / MIB
    (first,) = told["memory"]["free"]
    assert first["behind_bytes"] <= first["before_bytes"]
    assert told["memory"]["most_held_bytes"] < 64 * MIB
    grown = compressed["taken"]["call 400"] - compressed["taken"]["call 5"]
    assert grown <= expected + ROUGHLY
    # Calls that stay raw connect nobody.
    assert raw["reported"]["connections"]["ranks"] == 0
    assert abs(raw["taken"]["call 400"] - raw["taken"]["call 5"]) <= ROUGHLY
