"""Fixtures of the lab's tests; those that need a lab are skipped where none is permitted."""

import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lab_helpers import COMMAND_LINE

# Started in the background of a script, this process ignores SIGINT, and so would every command
# that these tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own; its path is part of the command line of its processes."""
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.fixture
def thinwire_lab() -> Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]:
    """Runs `thinwire lab` with the words given, and captures what it prints."""

    def call(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*COMMAND_LINE, *words], capture_output=True, text=True, timeout=60)

    return call
