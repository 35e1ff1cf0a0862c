"""`tools/test_gpu` on a machine without GPUs: made-up tests over GPUs that are only named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TESTS = """
import os
import time
import pytest

pytestmark = pytest.mark.gpu
SEEN = os.environ["CUDA_VISIBLE_DEVICES"]


def note(name):
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(f"{name} {SEEN} {time.monotonic()}\\n")


@pytest.mark.parametrize("number", range(12))
def test_many(number):
    note("many begins")
    time.sleep(0.2)
    note("many ends")


@pytest.mark.several_gpus
def test_several():
    assert sorted(SEEN.split(",")) == ["0", "1"]


@pytest.mark.gpu_alone
def test_gpu_alone():
    note("gpu_alone")
    assert SEEN in ("0", "1")


@pytest.mark.alone
def test_alone():
    note("alone")


def test_that_fails_beside_others():
    once = os.environ["NOTES"] + ".once"
    assert os.path.exists(once) or open(once, "w").close()


def test_that_ends_its_process():
    os.abort()


def test_that_is_skipped():
    pytest.skip("nothing of the kind")
"""


def run(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    made = folder / "test_made.py"
    made.write_text(text)
    own = {"THINWIRE_PREBUILT": "1", "PYTHON": sys.executable, "NOTES": str(folder / "notes")}
    tool = [sys.executable, str(ROOT / "tools" / "test_gpu"), "--gpus", "0,1"]
    return subprocess.run(
        [*tool, *words, "--record", str(folder / "record"), str(made)],
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_all_run_spread_over_gpus_and_what_failed_runs_again(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, "--each", "2")
    record = (tmp_path / "record").read_text()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "15 passed, 2 failed, 1 skipped, 0 not run" in record, done.stdout + done.stderr
    assert "skipped 1: nothing of the kind (test_made::test_that_is_skipped)" in record
    assert "test_that_fails_beside_others: passed when run again alone" in record
    assert "test_that_ends_its_process: failed when run again alone" in record
    notes = [line.rsplit(" ", 2) for line in (tmp_path / "notes").read_text().splitlines()]
    assert {seen for name, seen, _ in notes if name == "many begins"} == {"0", "1"}
    last = max(float(when) for name, _, when in notes if name == "many ends")
    for name in ("gpu_alone", "alone"):
        (when,) = (float(when) for each, _, when in notes if each == name)
        assert when > last, name


SLOW = """
import time
import pytest

@pytest.mark.gpu
@pytest.mark.parametrize("number", range(3))
def test_slow(number):
    time.sleep(0.1 if number == 0 else 100)
"""


def test_what_did_not_run_in_time_is_told_and_can_be_run(tmp_path: Path) -> None:
    left = tmp_path / "left"
    done = run(tmp_path, SLOW, "--each", "1", "--seconds", "12", "--left", str(left))
    record = (tmp_path / "record").read_text()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 passed, 0 failed, 0 skipped, 2 not run" in record, done.stdout + done.stderr
    assert "not over when the time was up: test_made::test_slow[1]" in record
    assert "not run: 2 of test_made" in record
    done = run(tmp_path, SLOW.replace("100)", "0)"), "--left", str(left))
    record = (tmp_path / "record").read_text()
    assert "2 passed, 0 failed, 0 skipped, 0 not run" in record, done.stdout + done.stderr
    assert done.returncode == 0 and left.read_text() == ""


def test_ranks_of_a_job_find_the_library_where_the_tests_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "gpu"))
    import nccl_job

    assert nccl_job.is_kept("THINWIRE_LIBRARY_DIR") and nccl_job.is_kept("PATH")
    assert not nccl_job.is_kept("THINWIRE_CODEC") and not nccl_job.is_kept("NCCL_DEBUG")
