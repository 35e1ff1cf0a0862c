"""The example programs, where they are built, with and without the preload library."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from thinwire.bench.programs import BenchError, Loopback, find_program, under_shim

SECONDS = 120


@dataclass
class Ended:
    """What a run left behind; `line` is its JSON line, `shim` the preload library's report."""

    code: int
    line: dict[str, Any] | None
    errors: str
    shim: dict[str, Any] | None


class Example:
    """One of the programs, run by `mpirun` on this host."""

    def __init__(self, name: str, program: Path, scratch: Path) -> None:
        self._name = name
        self._program = program
        self._scratch = scratch

    def run(self, ranks: int, *options: object, codec: str | None = None, link: str = "") -> Ended:
        """With `codec` under the preload library, which then takes messages from 1 KiB on."""
        words = ["mpirun", "-n", str(ranks), str(self._program), "--json", *map(str, options)]
        report = self._scratch / "report.json"
        report.unlink(missing_ok=True)
        if codec is not None:
            settings = ["--same-node", "--threshold", "1KiB", *(["--link", link] if link else [])]
            words = under_shim(codec, report, settings, words)
        done = Loopback().run(words, SECONDS)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        line = json.loads(lines[-1]) if lines else None
        shim = json.loads(report.read_text()) if report.exists() else None
        return Ended(done.returncode, line, done.stderr, shim)

    def figures(self, ranks: int, *options: object, codec: str | None = None, link: str = ""):
        """The JSON line of a run that must go well."""
        ended = self.run(ranks, *options, codec=codec, link=link)
        assert ended.code == 0 and ended.line is not None, ended.errors
        return ended.line

    def refusal(self, ranks: int, *options: object) -> str:
        """The sentence with which the program turns these options down."""
        ended = self.run(ranks, *options)
        said = [line for line in ended.errors.splitlines() if line.startswith(f"{self._name}: ")]
        assert ended.code != 0 and ended.line is None and said, ended.errors
        return said[0]


def example(name: str, scratch: Path) -> Example:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    programs = os.environ.get("THINWIRE_GPU_PROGRAMS")
    given = Path(programs, name) if programs else None
    try:
        return Example(name, find_program(name, given), scratch)
    except BenchError as error:
        pytest.skip(str(error))


@pytest.fixture
def cannon(tmp_path: Path) -> Example:
    return example("cannon", tmp_path)


@pytest.fixture
def stacking(tmp_path: Path) -> Example:
    return example("stacking", tmp_path)


@pytest.fixture
def seismic(tmp_path: Path) -> Example:
    return example("seismic", tmp_path)


@pytest.fixture
def fft(tmp_path: Path) -> Example:
    return example("fft", tmp_path)
