"""The study of the host's time (bench/studies/host_time), over the libnccl of hosts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_nccl_shim import BUILD, PROGRAMS, ROOT

pytestmark = pytest.mark.multiproc

WAYS = ["native", "launches", "large launches", "exchanges", "least", "compressed"]
# Kernels and messages of a rank's call.
ASKED = {
    ("hosts", "AllGather"): (3, 0),
    ("hosts", "ReduceScatter"): (3, 6),
    ("hosts", "AllReduce"): (6, 6),
    ("2x2", "AllGather"): (4, 6),
    ("2x2", "ReduceScatter"): (5, 6),
    ("2x2", "AllReduce"): (8, 8),
}


@pytest.mark.parametrize("layout", ["hosts", "2x2"])
def test_every_way_is_measured(layout: str, tmp_path: Path) -> None:
    words = [sys.executable, ROOT / "bench" / "studies" / "host_time" / "measure.py"]
    words += ["--layout", layout, "--sizes", "128KiB", "--build", BUILD]
    words += ["--nccl", PROGRAMS / "lib" / "libnccl.so.2", "--json", tmp_path / "lines"]
    subprocess.run(list(map(str, words)), check=True, capture_output=True, timeout=110)
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert [(line["operation"], line["way"], line["mode"]) for line in lines] == [
        (operation, way, mode)
        for operation in ("AllGather", "ReduceScatter", "AllReduce")
        for way in WAYS
        for mode in ("apart", "in a row")
    ]
    for line in lines:
        assert (line["kernels"], line["messages"]) == ASKED[layout, line["operation"]], line
        assert 0 < line["least"] <= line["median"] <= line["p90"]
        assert line["calls"] == (200 if line["mode"] == "apart" else 10)
