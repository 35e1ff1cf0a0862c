"""Runs a row's command as it stands, with the data that it names put in: `@data/FILE` of the folder
that $THINWIRE_DATA names, `@stand-in/FILE` generated for the run."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thinwire.bench.samples import DATA_FOLDER
from thinwire.reproduce.traits import write_file

QUICK_SECONDS = 600.0
_STAND_IN = re.compile(r"@stand-in/(\S+)")
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


def words_of(command: str, stand_ins: str = "") -> list[str]:
    """A command's words, with the folders of data in them; `thinwire` is this Python's."""
    folder = os.environ.get(DATA_FOLDER, "")
    words = [
        word.replace("@data", folder).replace("@stand-in", stand_ins)
        for word in shlex.split(command)
    ]
    own = [sys.executable, "-m", "thinwire"]
    return [*own, *words[1:]] if words[0] == "thinwire" else words


def run(name: str, command: str, timeout: float | None, as_json: bool) -> Outcome:
    """Runs it to its end, or until so many seconds have passed; its output goes where ours goes,
    as JSON into the outcome if that is asked for."""
    outcome = Outcome(name, command)
    output = subprocess.PIPE if as_json else None
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True) as folder:
        for file in set(_STAND_IN.findall(command)):
            write_file(file, Path(folder))
        words = words_of(command, folder) + (["--json"] if as_json else [])
        began = time.monotonic()
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
