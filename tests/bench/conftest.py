"""The compiled benchmark programs, where they are built, and the command itself."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from thinwire.bench import generators
from thinwire.bench.programs import BenchError, find_program
from thinwire.cli import command_line

Bench = Callable[..., Any]


@pytest.fixture
def bench() -> Bench:
    """`thinwire bench` with these words, in this process: `.exit_code`, `.stdout`, `.stderr`."""

    def call(*words: str) -> Any:
        return CliRunner().invoke(command_line(), ["bench", *words], catch_exceptions=False)

    return call


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """The path of a program: in $THINWIRE_BENCH_PROGRAMS or in the release build."""

    def find(name: str) -> str:
        if shutil.which("mpirun") is None:
            pytest.skip("no mpirun on this machine")
        folder = os.environ.get("THINWIRE_BENCH_PROGRAMS")
        try:
            return str(find_program(name, Path(folder, name) if folder else None))
        except BenchError as error:
            pytest.skip(str(error))

    return find


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller's data folder would make the tests long."""
    monkeypatch.delenv("THINWIRE_DATA", raising=False)


@pytest.fixture
def small_cubes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generated cubes of a few planes, as the real ones take seconds."""
    cube = np.sin(np.arange(8 * 64 * 64) / 50).reshape(8, 64, 64)
    monkeypatch.setattr(generators, "EDGE", 64)
    monkeypatch.setattr(generators, "wavefield", lambda planes: cube[:planes])
    monkeypatch.setattr(generators, "early_wavefield", lambda planes: np.where(cube > 0.5, cube, 0))
    monkeypatch.setattr(generators, "_turbulent_cube", lambda: np.repeat(cube, 8, axis=0))
