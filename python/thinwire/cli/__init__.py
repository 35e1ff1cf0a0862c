"""The `thinwire` command."""

import sys
from typing import Annotated

import typer

from thinwire.cli import (
    advise,
    bench,
    capture,
    codecs,
    demo,
    env,
    explain,
    files,
    lab,
    policy,
    report,
    run,
    shim,
    tune,
)
from thinwire.cli.before_command import BEFORE, PASS_ON, BeforeCommand
from thinwire.library import ThinwireError, format_version, version

# Typer's own completion of commands, options and values, for bash, zsh, fish and PowerShell:
# `thinwire --install-completion`, `--show-completion`.
app = typer.Typer(rich_markup_mode="markdown", no_args_is_help=True, pretty_exceptions_enable=False)
app.command("env")(env.env)
app.command("codecs")(codecs.codecs)
app.command("run", cls=BeforeCommand, context_settings=PASS_ON, options_metavar=BEFORE)(run.run)
app.command("exec", cls=BeforeCommand, context_settings=PASS_ON, options_metavar=BEFORE)(
    run.execute
)
app.command("capture", cls=BeforeCommand, context_settings=PASS_ON, options_metavar=BEFORE)(
    capture.capture
)
app.command("shim")(shim.shim)
app.command("encode")(files.encode)
app.command("decode")(files.decode)
app.command("inspect")(files.inspect)
app.command("advise")(advise.advise)
app.command("report")(report.report)
app.command("explain")(explain.explain)
app.command("tune")(tune.tune)
app.command("demo")(demo.demo)
app.add_typer(lab.app, name="lab")
app.add_typer(bench.app, name="bench")
app.add_typer(policy.app, name="policy")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"thinwire {version()} (frame format {format_version()})")
        raise typer.Exit


@app.callback()
def thinwire(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """On-the-fly compression of float messages inside MPI programs."""


def main() -> None:
    """Entry point: errors of the library and of the system end in one line, not a traceback."""
    try:
        app()
    except (ThinwireError, OSError) as error:
        print(f"thinwire: error: {error}", file=sys.stderr)
        sys.exit(1)
