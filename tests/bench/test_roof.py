"""The kernels of `bench/studies/roof` by threads of the host: frames as the reference has them."""

import os
import random
import shlex
import struct
import subprocess
from pathlib import Path

import pytest

STUDY = Path(__file__).resolve().parents[2] / "bench" / "studies" / "roof"


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("roof") / "check"
    compiler = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++20", "-O1", "-pthread"]
    subprocess.run([*compiler, f"-I{STUDY}", str(STUDY / "check.cpp"), "-o", str(out)], check=True)
    return out


def bf16(values: list[float]) -> bytes:
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def scales(spread: int) -> list[float]:
    """Values around a size that changes from row to row, with zeros and infinities among them."""
    draw = random.Random(46)
    values = [draw.gauss(0, 2.0 ** -(row % spread)) for row in range(400) for _ in range(256)]
    for at in range(0, len(values), 97):
        values[at] = draw.choice([0.0, -0.0, float("inf"), 1e-38, 3e38])
    return values


@pytest.mark.parametrize("spread", [1, 60])
def test_frames_of_all_variants_are_the_reference_s_and_come_back(program, tmp_path, spread):
    file = tmp_path / "values.bf16"
    file.write_bytes(bf16(scales(spread)))
    done = subprocess.run([program, file], capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert len(lines) == 21 and done.returncode == 0, done.stdout
    assert all("the reference's, values come back" in line for line in lines)
