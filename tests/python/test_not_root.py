"""The commands for a user who is not root: each works, or says in a line what it needs; and what is
another's stays as it is."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import thinwire

NOBODY = 65534
PACKAGE = Path(thinwire.__file__).parents[1]
SYSTEM_PYTHON = "/usr/bin/python3"
# The first start is with rights that setpriv still has; what that starts has none.
AGAIN = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import thinwire'], check=True)"
)
AS_NOBODY = [
    "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all",
    "--bounding-set=-all",
]  # fmt: skip

pytestmark = [
    pytest.mark.multiproc,
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root"),
]


@pytest.fixture(autouse=True)
def one_at_a_time() -> Iterator[None]:
    """Nobody has one folder of labs, for all tests that run on the machine."""
    with Path("/tmp/thinwire-test-not-root.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A folder of nobody's, with files of root's in it."""
    folder = Path(f"/tmp/thinwire-test-not-root-{os.getpid()}")
    folder.mkdir()
    values = np.sin(0.01 * np.arange(50_000)).astype(np.float32)
    for name in ("own.f32", "secret.f32", "others.tw"):
        values.tofile(folder / name)
    (folder / "secret.f32").chmod(0o600)
    (folder / "report.html").write_text("another's")
    for each in (folder, folder / "own.f32"):
        os.chown(each, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def run(home: Path) -> Run:
    kept = {
        name: os.environ[name] for name in ("PATH", "THINWIRE_LIBRARY_DIR") if name in os.environ
    }
    packages = [str(PACKAGE), *(path for path in sys.path if "site-packages" in path)]
    environment = {**kept, "HOME": str(home), "PYTHONPATH": ":".join(packages)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}

    def call(python: str, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*AS_NOBODY, python, *words],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=home,
            env={**environment, **more},
        )

    for python in (sys.executable, SYSTEM_PYTHON):
        if shutil.which(python) and call(python, "-c", AGAIN).returncode == 0:
            return lambda *words, **more: call(python, "-m", "thinwire", *words, **more)
    pytest.skip("no Python here that others than root can run")


WORKS = [
    "env", "codecs", "shim mpi", "explain --bytes 1MiB --link 1gbit", "lab status", "run -- true",
    "encode own.f32 own.tw --codec mpc", "inspect others.f32", "advise own.f32 --link 1gbit",
    "bench p2p --loopback --sizes 64KiB --iterations 1 --rounds 1",
]  # fmt: skip
REFUSED = [
    ("encode own.f32 others.tw --codec mpc", "Permission denied: 'others.tw'"),
    ("encode secret.f32 new.tw --codec mpc", "'secret.f32' is not readable"),
    ("advise secret.f32 --link 1gbit", "'secret.f32' is not readable"),
    ("policy check secret.f32", "'secret.f32' is not readable"),
    ("report secret.f32", "'secret.f32' is not readable"),
    ("inspect secret.f32", "'secret.f32' is not readable"),
    ("capture -o /root/sample -- true", "Permission denied: '/root/sample'"),
    ("demo --output-dir /root/demo", "Permission denied: '/root/demo"),
    ("bench ratio --write --file /etc/ratio.csv", "Permission denied: '/etc/ratio.csv'"),
    ("lab down --name other", "no lab named 'other' is up"),
]


def test_what_needs_no_rights_works(run: Run, home: Path) -> None:
    frame = home / "others.f32"
    frame.write_bytes(thinwire.compress(np.zeros(100, np.float32), "mpc"))
    for words in WORKS:
        done = run(*words.split())
        assert done.returncode == 0 and "Traceback" not in done.stderr, (words, done.stderr)


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[words for words, _ in REFUSED])
def test_what_is_anothers_is_refused_in_a_line(run: Run, home: Path, words: str, said: str) -> None:
    before = {path: path.read_bytes() for path in home.iterdir() if path.is_file()}
    done = run(*words.split())
    assert done.returncode != 0 and "Traceback" not in done.stderr
    # Typer puts its own into a frame.
    assert said in " ".join(done.stderr.replace("│", " ").split()), done.stderr
    assert {path: path.read_bytes() for path in home.iterdir() if path.is_file()} == before


def test_a_table_of_costs_that_cannot_be_kept_is_told_before_it_is_measured(run: Run) -> None:
    done = run("tune", XDG_CACHE_HOME="/root/cache")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "Permission denied: '/root/cache" in done.stderr


def test_a_lab_is_there_or_says_why_not(run: Run) -> None:
    done = run("lab", "run", "--", "true")
    assert done.returncode in (0, 69) and "Traceback" not in done.stderr, done.stderr
    assert done.stderr.startswith("lab: ")


@pytest.mark.parametrize("planted", ["file", "folder", "open folder", "link", "link to nothing"])
def test_a_folder_of_labs_that_another_has_planted_is_not_used(
    run: Run, home: Path, planted: str
) -> None:
    folder = Path(f"/tmp/thinwire-lab-{NOBODY}")
    if folder.is_dir() and not list(folder.glob("*.json")):
        shutil.rmtree(folder)  # of a test before this one, or of a lab that is gone
    if folder.exists() or folder.is_symlink():
        pytest.skip(f"{folder} is there")
    victim = home / "victim"
    try:
        if planted == "file":
            folder.write_text("")
        elif planted.endswith("folder"):
            folder.mkdir()
            folder.chmod(0o777 if "open" in planted else 0o755)
        else:
            folder.symlink_to(home if planted == "link" else victim)
        for words in (["lab", "status"], ["lab", "up"]):
            done = run(*words)
            assert done.returncode != 0 and "Traceback" not in done.stderr, done.stderr
            assert done.stderr.count("\n") == 1 and str(folder) in done.stderr
        assert not victim.exists() and not (home / "lock").exists()
    finally:
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
        else:
            folder.unlink()
