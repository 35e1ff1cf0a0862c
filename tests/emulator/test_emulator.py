"""The GPU tests on the emulator: kernels give the bytes of the CPU without a GPU, in whichever
order their threads take turns. `make test` runs a sample, `make test-all` what the emulator can."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build/release")) / "emulator"

# Files of tests/gpu, what of them to run, the order of threads, and how many at least must pass.
SAMPLE = [
    ("frames", "test_lines and smooth", "forward", 80),
    ("frames", "test_lines and sparse and not zfp and not f64", "7", 30),
    ("frames", "test_planes_and_volumes and smooth and not f64", "backward", 40),
    ("frames", "test_any_alignment and sparse and f32", "11", 8),
    ("enqueue", "test_enqueued or test_what or test_two", "forward", 35),
    ("enqueue", "graph", "backward", 30),
    ("hostile", "test_truncations or test_what or test_padding", "forward", 35),
    ("values", "test_fill", "13", 3),
    ("expack", "test", "backward", 18),
    ("fills", "test_lines and 30 and f32", "forward", 8),
    ("fills", "test_planes and 97 and f16", "17", 5),
]
WHOLE = ["frames", "enqueue", "hostile", "values", "fills", "fills_damaged", "memory", "expack"]

if not BUILT.is_dir():
    pytestmark = pytest.mark.skip(reason="no emulator: the build has no CUDA compiler")


def passed(file: str, words: list[str], order: str, seconds: int) -> int:
    """How many pass of a file's tests, of which none fails."""
    settings = {
        "THINWIRE_LIBRARY_DIR": str(BUILT),
        "LD_LIBRARY_PATH": str(BUILT),
        "THINWIRE_TEST_GPU_ORDER": order,
        "THINWIRE_TEST_EMULATED": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, *words, f"tests/gpu/test_gpu_{file}.py"],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    count = re.search(r"(\d+) passed", done.stdout)
    return int(count[1]) if count else 0


@pytest.mark.parametrize(("file", "words", "order", "least"), SAMPLE)
def test_kernels_give_what_the_cpu_gives(file: str, words: str, order: str, least: int) -> None:
    assert passed(file, ["-k", words], order, 600) >= least


@pytest.mark.slow
@pytest.mark.parametrize("order", ["forward", "backward", "1"])
@pytest.mark.parametrize("file", WHOLE)
def test_all_that_the_emulator_can_run(file: str, order: str) -> None:
    assert passed(file, [], order, 7200) > 10
