"""The command line's reference: what `--help` of each command prints."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from thinwire.cli import command_line

WIDTH = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}


def as_markdown() -> str:
    return "\n\n".join(section(words) for words in commands([], get_command(command_line())))


def commands(words: list[str], command: Any) -> Iterator[list[str]]:
    """All that do something by themselves, in the order of `--help`."""
    inner = getattr(command, "commands", {})
    if not inner:
        yield words
    for word, each in inner.items():
        yield from commands([*words, word], each)


def section(words: list[str]) -> str:
    shown = CliRunner().invoke(command_line(), [*words, "--help"], env=WIDTH, prog_name="thinwire")
    text = "\n".join(line.rstrip() for line in shown.output.splitlines()).strip("\n")
    return f"## thinwire {' '.join(words)}\n\n```text\n{text}\n```"
