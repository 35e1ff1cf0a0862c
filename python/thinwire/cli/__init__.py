"""The `thinwire` command."""

import sys

import typer

from thinwire.cli import advise, bench, codecs, demo, env, files, lab, run, shim
from thinwire.cli.before_command import PASS_ON, BeforeCommand
from thinwire.library import ThinwireError

app = typer.Typer(
    help="On-the-fly compression of float messages inside MPI and NCCL programs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("env")(env.env)
app.command("codecs")(codecs.codecs)
app.command("run", cls=BeforeCommand, context_settings=PASS_ON)(run.run)
app.command("exec", cls=BeforeCommand, context_settings=PASS_ON)(run.execute)
app.command("shim")(shim.shim)
app.command("encode")(files.encode)
app.command("decode")(files.decode)
app.command("inspect")(files.inspect)
app.command("advise")(advise.advise)
app.command("demo")(demo.demo)
app.add_typer(lab.app, name="lab")
app.add_typer(bench.app, name="bench")


def main() -> None:
    """Entry point: errors of the library and of the system end in one line, not a traceback."""
    try:
        app()
    except (ThinwireError, OSError) as error:
        print(f"thinwire: error: {error}", file=sys.stderr)
        sys.exit(1)
