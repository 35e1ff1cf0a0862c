"""The `thinwire` command."""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

from thinwire.cli.before_command import BEFORE, PASS_ON, BeforeCommand
from thinwire.errors import ThinwireError

_BEFORE = {"cls": BeforeCommand, "context_settings": PASS_ON, "options_metavar": BEFORE}


class Command(NamedTuple):
    """A command: the module below this one, its function or Typer of commands there, what the list
    of commands says of it, and how it is added."""

    module: str
    attribute: str
    says: str
    words: dict[str, Any] = {}


# By name, in the order of the help. What the list says is what the command says of itself first: it
# stands here too, so that the list needs none of the modules.
COMMANDS = {
    "env": Command(
        "env",
        "env",
        "Show versions, libraries, MPI, GPUs, the lab's needs and the THINWIRE_ settings in force.",
    ),
    "codecs": Command(
        "codecs",
        "codecs",
        "List the codecs of this build: what they take, their options and an example of a spec.",
    ),
    "run": Command("run", "run", "Run an MPI or NCCL program with compression.", _BEFORE),
    "exec": Command("run", "execute", "Run one rank with compression.", _BEFORE),
    "capture": Command(
        "capture",
        "capture",
        "Run an MPI program and keep a sample of the floats that it sends.",
        _BEFORE,
    ),
    "doctor": Command(
        "doctor",
        "doctor",
        "Look for what would keep a command from being compressed here, and say what to type.",
        _BEFORE,
    ),
    "shim": Command("shim", "shim", "Print the path of the preload library."),
    "encode": Command(
        "files",
        "encode",
        "Encode raw little-endian values, or an array of a file, into one frame.",
    ),
    "decode": Command(
        "files",
        "decode",
        "Decode a frame into a file of raw little-endian values, or a .npy file with their shape.",
    ),
    "inspect": Command(
        "files", "inspect", "Print what a frame's header says, or which arrays a file has."
    ),
    "advise": Command(
        "advise",
        "advise",
        "Measure codecs on your own values, and say which one to use on a link, if any.",
    ),
    "report": Command(
        "report",
        "report",
        "Show what a program sent to whom, how, and why the rest stayed raw.",
    ),
    "explain": Command(
        "explain",
        "explain",
        "Say what would be done with a message or a collective, and why.",
    ),
    "simulate": Command(
        "simulate",
        "simulate",
        "Say what a collective would take on many nodes, raw beside compressed.",
    ),
    "tune": Command(
        "tune",
        "tune",
        "Measure once what codecs cost on this machine, for programs under the preload library.",
    ),
    "demo": Command(
        "demo", "demo", "Run a wave solver over slow links, raw and compressed, and compare."
    ),
    "reproduce": Command(
        "reproduce",
        "reproduce",
        "Show published figures beside ours; run the command of one if this machine allows.",
    ),
    "lab": Command("lab", "app", "A small cluster on this machine: hosts joined by shaped links."),
    "bench": Command("bench", "app", "Measure codecs and messages on this machine."),
    "policy": Command(
        "policy",
        "app",
        "Files of rules that name codecs by communicator, operation, type and size.",
    ),
}


def _print_version(wanted: bool) -> None:
    if wanted:
        from thinwire.library import format_version, version

        print(f"thinwire {version()} (frame format {format_version()})")
        raise typer.Exit


def thinwire(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """On-the-fly compression of float messages inside MPI and NCCL programs."""


def command_line(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command with these of its commands, whose modules are imported."""
    app = _without_commands()
    for name in names:
        module, attribute, _, words = COMMANDS[name]
        command = getattr(import_module(f"thinwire.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, **words)(command)
    return app


def list_of_commands() -> typer.Typer:
    """The command with the names of its commands alone: it can say which there are, and of a word
    that it is none. No module is imported for it."""
    app = _without_commands()
    for name, command in COMMANDS.items():
        app.command(name, help=command.says)(lambda: None)
    return app


def _without_commands() -> typer.Typer:
    # Typer's own completion of commands, options and values, for bash, zsh, fish and PowerShell:
    # `thinwire --install-completion`, `--show-completion`.
    app = typer.Typer(
        rich_markup_mode="markdown", no_args_is_help=True, pretty_exceptions_enable=False
    )
    app.callback()(thinwire)
    return app


def _asked_for(words: list[str]) -> typer.Typer:
    """The command as far as these words need it: with the one command that they begin with; with
    none if they name none; else with all, as completion asks for."""
    if words and words[0] in COMMANDS:
        return command_line([words[0]])
    named = any(word in COMMANDS for word in words)
    return command_line() if _completes() or named else list_of_commands()


def _completes() -> bool:
    return any(name.endswith("_COMPLETE") for name in os.environ)


def _without_parser(words: list[str]) -> Callable[[], None] | None:
    """A call of a command that starts a program, of a line that is read without Typer's parser,
    which takes longer to make than all else; None if there is none such."""
    named = COMMANDS.get(words[0]) if words else None
    if named is None or named.module != "run" or _completes():
        return None
    from thinwire.cli.simple_line import prepared

    command = getattr(import_module(f"thinwire.cli.{named.module}"), named.attribute)
    return prepared(command, words[1:])


def run_command(on_interrupt: Any) -> None:
    """Runs the command that the words name, under this handler of SIGINT from when all is imported:
    errors of the library and of the system end in one line, not a traceback."""
    try:
        words = sys.argv[1:]
        command = _without_parser(words) or _asked_for(words)
        if on_interrupt is not None:
            signal.signal(signal.SIGINT, on_interrupt)
        command()
    except (ThinwireError, OSError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory for this")
    except KeyboardInterrupt:
        # As shells have it; the command itself ends so if it was interrupted.
        sys.exit(128 + signal.SIGINT)


def _fail(words: str) -> None:
    print(f"thinwire: error: {words}", file=sys.stderr)
    sys.exit(1)


def main() -> None:
    """Runs the command, for programs that have imported this already."""
    run_command(None)
