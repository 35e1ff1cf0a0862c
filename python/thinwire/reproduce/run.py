"""Runs a row's command as it stands, with the data that it names put in."""

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from thinwire.bench.samples import DATA_FOLDER

QUICK_SECONDS = 600.0
# Said beside figures of small runs.
QUICK = "small sizes, few turns, processors for GPUs: no measure of what the source ran"


@dataclass
class Outcome:
    """What became of a command: its exit code, None if it did not run or end in time, and why."""

    name: str
    command: str
    code: int | None = None
    reasons: list[str] = field(default_factory=list)
    seconds: float = 0.0
    result: Any = None

    @property
    def did_run(self) -> bool:
        return self.code is not None


def words_of(command: str) -> list[str]:
    """A command's words, with the folder of data in them; `thinwire` is this Python's."""
    folder = os.environ.get(DATA_FOLDER, "")
    words = [word.replace("@data", folder) for word in shlex.split(command)]
    own = [sys.executable, "-m", "thinwire"]
    return [*own, *words[1:]] if words[0] == "thinwire" else words


def run(name: str, command: str, timeout: float | None, as_json: bool) -> Outcome:
    """Runs it to its end, or until so many seconds have passed; its output goes where ours goes,
    as JSON into the outcome if that is asked for."""
    outcome = Outcome(name, command)
    words = words_of(command) + (["--json"] if as_json else [])
    began = time.monotonic()
    output = subprocess.PIPE if as_json else None
    sys.stdout.flush()
    try:
        done = subprocess.run(words, stdout=output, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        outcome.reasons.append(f"it did not end in {timeout:.0f} s")
        return outcome
    finally:
        outcome.seconds = round(time.monotonic() - began, 1)
    outcome.code = done.returncode
    if as_json:
        outcome.result = _parsed(done.stdout)
    return outcome


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text or None
