"""`import thinwire` and `thinwire --help` where nothing is built or packages are missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    settings = {"THINWIRE_LIBRARY_DIR": str(folder), "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "import thinwire"),
        ("-m", "thinwire", "--help"),
        ("-m", "thinwire", "run", "--help"),
        ("-m", "thinwire", "bench", "--help"),
        ("-m", "thinwire", "demo", "--help"),
    ],
    ids=" ".join,
)
def test_nothing_is_built(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_needs_the_library_says_so_in_a_line(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "thinwire", "codecs")
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert "libthinwire.so.0 does not exist" in line and "make build" in line
    done = run(tmp_path, "-c", "import thinwire; thinwire.__version__")
    assert "libthinwire.so.0 does not exist" in done.stderr.splitlines()[-1]


def test_packages_that_are_missing_are_named(tmp_path: Path) -> None:
    """Without site-packages, as with the system's Python over a checkout."""
    for words in (("-c", "import thinwire"), ("-m", "thinwire", "--help")):
        done = run(tmp_path, "-S", *words)
        assert done.returncode != 0
        assert "thinwire needs cffi and numpy: pip install cffi numpy" in done.stderr
