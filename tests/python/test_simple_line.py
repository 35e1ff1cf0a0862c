"""Command lines that are read without Typer's parser mean what they mean with it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer
from typer.testing import CliRunner

from thinwire.cli import COMMANDS, _without_parser
from thinwire.cli.run import _with_options
from thinwire.cli.simple_line import prepared

POLICY = '[[rule]]\ncodec = "zfp:rate=8"\n'


def asked(words: list[str], *, simply: bool) -> list[Any] | None:
    """What a command of these options is started with; None if it is not."""
    got: list[Any] = []

    def start(*given: Any) -> NoReturn:
        """Start."""
        got.extend(given)
        raise typer.Exit

    command = _with_options(start)
    if simply:
        call = prepared(command, words)
        if call is None:
            return None
        with pytest.raises(SystemExit, match="0"):
            call()
    else:
        app = typer.Typer()
        app.command(**COMMANDS["run"].words)(command)
        CliRunner().invoke(app, words)
    return got or None


SIMPLE = [
    ("true", {}),
    ("-- true -x -- y", {}),
    ("true --codec mpc", {}),
    ("--codec zfp:rate=8,shape=? true", {}),
    ("--codec=mpc --codec zfp:rate=16 -- true", {}),
    ("--force --same-node --nccl true", {}),
    ("--nccl --no-nccl true", {}),
    ("--threshold 64KiB --link 1gbit --references 2MiB --report 1 --log error true", {}),
    ("--trace job/trace --report r.json --mpi mpich --log plan -- true", {}),
    ("--policy rules.toml true", {}),
    ("true", {"THINWIRE_CODEC": "zfp:rate=16", "THINWIRE_POLICY": "rules.toml"}),
    ("--codec off true", {"THINWIRE_CODEC": "no-such"}),
    ("true", {"THINWIRE_CODEC": ""}),
]


@pytest.mark.parametrize(("line", "environment"), SIMPLE)
def test_it_means_what_typer_says(
    line: str, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = asked(line.split(), simply=True)
    assert found is not None and found == asked(line.split(), simply=False)


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--codec",
        "--codec -- true",
        "--codec= true",
        "--codec no-such true",
        "--cod mpc true",
        "-c mpc true",
        "--force=1 true",
        "--log loud true",
        "--mpi --force true",
        "--threshold many true",
        "--link slow true",
        "--policy no-such.toml true",
        "--no-such true",
    ],
)
def test_typer_has_the_words_for_all_else(line: str) -> None:
    assert asked(line.split(), simply=True) is None


def test_typer_has_the_words_for_a_wrong_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINWIRE_CODEC", "no-such")
    assert asked(["true"], simply=True) is None


def test_commands_that_print_are_typer_s() -> None:
    """It knows that nobody may read what they print."""
    assert _without_parser(["run", "true"]) is not None
    for name in COMMANDS.keys() - {"run", "exec"}:
        assert _without_parser([name, "true"]) is None


@pytest.mark.parametrize("line", ["run", "exec", "exec --codec zfp:rate=16 --nccl --"])
def test_a_program_is_started_without_a_parser_of_typer(line: str) -> None:
    words = ["thinwire", *line.split(), sys.executable]
    program = f"import sys, os; sys.argv = {words!r}; from thinwire import start\n"
    program += "os.execvpe = lambda *_: print('MODULES', *sys.modules)\nstart.main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "THINWIRE_LOG": "error"},
    )
    modules = set(done.stdout.rpartition("MODULES ")[2].split())
    assert {"thinwire.cli.run", "thinwire.launch"} <= modules
    assert not modules & {"pydantic", "typer._adapters", "rich", "numpy", "importlib.metadata"}
