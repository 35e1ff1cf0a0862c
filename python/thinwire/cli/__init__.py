"""The `thinwire` command."""

import os
import signal
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from thinwire.cli.before_command import BEFORE, PASS_ON, BeforeCommand
from thinwire.library import ThinwireError, format_version, version

_BEFORE = {"cls": BeforeCommand, "context_settings": PASS_ON, "options_metavar": BEFORE}

# By name, in the order of the help: the function of the module below this one, or its Typer of
# commands.
COMMANDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "env": ("env", "env", {}),
    "codecs": ("codecs", "codecs", {}),
    "run": ("run", "run", _BEFORE),
    "exec": ("run", "execute", _BEFORE),
    "capture": ("capture", "capture", _BEFORE),
    "shim": ("shim", "shim", {}),
    "encode": ("files", "encode", {}),
    "decode": ("files", "decode", {}),
    "inspect": ("files", "inspect", {}),
    "advise": ("advise", "advise", {}),
    "report": ("report", "report", {}),
    "explain": ("explain", "explain", {}),
    "tune": ("tune", "tune", {}),
    "demo": ("demo", "demo", {}),
    "lab": ("lab", "app", {}),
    "bench": ("bench", "app", {}),
    "policy": ("policy", "app", {}),
}


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"thinwire {version()} (frame format {format_version()})")
        raise typer.Exit


def thinwire(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """On-the-fly compression of float messages inside MPI programs."""


def command_line(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command with these of its commands, whose modules are imported."""
    # Typer's own completion of commands, options and values, for bash, zsh, fish and PowerShell:
    # `thinwire --install-completion`, `--show-completion`.
    app = typer.Typer(
        rich_markup_mode="markdown", no_args_is_help=True, pretty_exceptions_enable=False
    )
    app.callback()(thinwire)
    for name in names:
        module, attribute, words = COMMANDS[name]
        command = getattr(import_module(f"thinwire.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, **words)(command)
    return app


def _asked_for() -> Iterable[str]:
    """The one command that the words name; else all, as help and completion show them."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    completes = any(name.endswith("_COMPLETE") for name in os.environ)
    return COMMANDS if completes or first not in COMMANDS else (first,)


def run_command(on_interrupt: Any) -> None:
    """Runs the command that the words name, under this handler of SIGINT from when all is imported:
    errors of the library and of the system end in one line, not a traceback."""
    try:
        command = command_line(_asked_for())
        if on_interrupt is not None:
            signal.signal(signal.SIGINT, on_interrupt)
        command()
    except (ThinwireError, OSError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory for this")
    except KeyboardInterrupt:
        # As shells have it; the command itself ends so where it was interrupted.
        sys.exit(128 + signal.SIGINT)


def _fail(words: str) -> None:
    print(f"thinwire: error: {words}", file=sys.stderr)
    sys.exit(1)


def main() -> None:
    """Runs the command, for programs that have imported this already."""
    run_command(None)
