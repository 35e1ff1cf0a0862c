"""bench/studies/memory/measure.py, of a GPU that is none: see fake_nccl/device_memory.h."""

import json
import os
import subprocess
import sys

import pytest
from test_nccl_shim import PROGRAMS, ROOT

from thinwire.lab import Lab, LabUnavailable

pytestmark = pytest.mark.multiproc

PAIR = 100


def measured(*words: str) -> dict[tuple[str, str], dict]:
    """By layout and way."""
    try:
        with Lab(hosts=2, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(str(error))
    library = str(PROGRAMS / "lib" / "libnccl.so.2")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    env |= {"FAKE_GPU_BYTES": "8e9", "FAKE_NCCL_PEER_BYTES": str(PAIR << 20)}
    env |= {"PYTHONPATH": str(ROOT / "python"), "CUDA_VISIBLE_DEVICES": ""}
    command = [
        sys.executable,
        str(ROOT / "bench" / "studies" / "memory" / "measure.py"),
        "--link",
        "none",
    ]
    command += ["--library", library, "--bytes", "256KiB", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.stdout.count("\n|") == len(lines) + 2, "a table, too"
    return {(each["layout"], each["way"]): each for each in lines}


def test_connections_of_pairs_are_found() -> None:
    ways = ["--way", "native", "--way", "raw", "--way", "compressed"]
    found = measured("--layout", "2x2", "--layout", "4x1", *ways)
    # In two levels with a rank of the node and one of the other node; in one with all three.
    for layout, pairs in (("2x2", 2), ("4x1", 3)):
        of = {way: found[layout, way]["taken"] for way in ("native", "raw", "compressed")}
        assert set(of["native"].values()) == set(of["raw"].values()) == {0}
        assert [of["compressed"][f"call {n}"] for n in (5, 400)] == [0, pairs * PAIR]
        assert found[layout, "compressed"]["compressed"] > 100
        assert found[layout, "raw"]["compressed"] == 0
