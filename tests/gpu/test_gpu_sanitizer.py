"""The kernels under compute-sanitizer: no access out of bounds, no race, no misplaced barrier."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from test_gpu_programs import program

HERE = Path(__file__).parent
ERROR_EXIT = 99
SECONDS = 600


@cache
def tool() -> str:
    """The program; skips where there is none, or where it cannot see into this GPU."""
    path = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if path is None:
        pytest.skip("no compute-sanitizer in PATH or /usr/local/cuda/bin")
    return path


def run(checker: str, *command: str) -> None:
    # Errors that calls return are looked at by the callers: asking where host memory lies is one.
    options = ["--tool", checker, "--error-exitcode", str(ERROR_EXIT), "--print-limit", "10"]
    options += ["--report-api-errors", "no"]
    places = [str(HERE), *sys.path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))}
    done = subprocess.run(
        [tool(), *options, *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    said = (done.stdout + done.stderr)[-4000:]
    if "Device not supported" in said:
        pytest.skip("compute-sanitizer does not support this device here")
    assert done.returncode == 0, said


def run_corpus(checker: str, part: str, size: str) -> None:
    run(checker, sys.executable, str(HERE / "sanitizer_corpus.py"), part, size)


@pytest.mark.parametrize("part", ["property", "hostile", "missing", "changed_masks"])
def test_memcheck(part: str) -> None:
    run_corpus("memcheck", part, "full")


@pytest.mark.parametrize("checker", ["racecheck", "synccheck", "initcheck"])
@pytest.mark.parametrize("part", ["property", "missing"])
def test_other_checks(checker: str, part: str) -> None:
    run_corpus(checker, part, "small")


@pytest.mark.parametrize("checker", ["memcheck", "racecheck", "synccheck", "initcheck"])
def test_reductions(checker: str) -> None:
    run(checker, program("gpu_reductions"))


@pytest.mark.parametrize("checker", ["memcheck", "synccheck"])
def test_forged_frames_and_slots(checker: str) -> None:
    run(checker, program("gpu_forged"), "small")


# Bytes of a slot after its frame are sent as they are: initcheck would tell of that.
@pytest.mark.parametrize("checker", ["memcheck", "racecheck", "synccheck"])
def test_slots(checker: str) -> None:
    """With kernels that wait for a thread of the host."""
    run(checker, program("gpu_slots"), "small")
