"""Whenever a command that starts processes is interrupted, it ends at once and leaves nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lab_processes import becomes_true, holders, network_namespaces

pytestmark = [
    pytest.mark.alone,
    pytest.mark.multiproc,
    pytest.mark.usefixtures("permitted"),
]

COMMAND = [sys.executable, "-m", "thinwire"]
MOMENTS = 20
# Until a lab is up and its command runs, on a machine that has other work.
LAST_MOMENT = 1.6
SECONDS_TO_END = 3.0

LONG = {
    "lab run": ["lab", "run", "--", "sleep", "31.7"],
    "lab up": ["lab", "up", "--name", "interrupted"],
    "exec": ["exec", "--", "sleep", "31.7"],
    "run": ["run", "--", "sleep", "31.7"],
    "bench p2p": ["bench", "p2p", "--link", "10mbit"],
}


def _sleepers() -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"sleep\x0031.7" in words and entry.name != str(os.getpid()):
            found.append(entry.name)
    return found


def _interrupted(words: list[str], moment: float, folder: Path) -> tuple[float, str]:
    """How long the command takes to end after an interrupt of its group, and what it says."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=environment,
    )
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGINT)
    start = time.monotonic()
    try:
        said, _ = process.communicate(timeout=15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
    return time.monotonic() - start, said


def _is_ours(traceback: str) -> bool:
    return any(f"thinwire/{folder}/" in traceback for folder in ("bench", "cli", "lab", "launch"))


def _check(words: list[str], moments: list[float], state: Path, folder: Path) -> None:
    namespaces = network_namespaces()
    for moment in moments:
        seconds, said = _interrupted(words, moment, folder)
        at = f"interrupted after {moment:.2f} s"
        assert seconds < SECONDS_TO_END, f"{at}: {said}"
        # Python's own start, until the entry point runs, may end in a traceback.
        assert "Traceback" not in said or not _is_ours(said), f"{at}: {said}"
        if words[:2] == ["lab", "up"]:  # it may have been up already
            subprocess.run([*COMMAND, "lab", "down", *words[2:]], capture_output=True, timeout=60)
        assert becomes_true(lambda: not holders(state) and not _sleepers()), at
        assert becomes_true(lambda: not network_namespaces() - namespaces), at
        left = sorted(each.name for each in (state / "thinwire-lab").glob("*"))
        assert not set(left) - {"inside", "lock"}, f"{at}: {left}"
        assert not list(folder.iterdir()), at


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_nothing_stays_at_any_of_twenty_moments(name: str, own_state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    moments = [LAST_MOMENT * (at + 1) / MOMENTS for at in range(MOMENTS)]
    _check(LONG[name], moments, own_state, folder)


def test_a_lab_that_starts_is_interrupted(own_state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    _check(LONG["lab run"], [0.7, 0.9, 1.0, 1.1, 1.2], own_state, folder)


def test_an_owner_that_is_interrupted_does_not_wait_for_its_holder(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from thinwire.lab import Lab, connection

    def interrupted(_self: connection.Connection) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(connection.Connection, "_receive", interrupted)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Lab(hosts=1, link="none"):
        pass
    assert time.monotonic() - start < SECONDS_TO_END
    assert becomes_true(lambda: not holders(own_state))
