"""`thinwire bench`."""

import typer

app = typer.Typer(help="Measure codecs and messages on this machine.", no_args_is_help=True)
