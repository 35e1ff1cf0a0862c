"""The command: what was found, line by line, and its exit status."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from thinwire.bench.layout import print_wrapped

from .finding import Finding, State
from .of_command import look_at_command
from .of_node import look_at_node


def doctor(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look for what would keep a command from being compressed here, and say what to type.

    As in: thinwire doctor -- mpirun -n 4 ./program

    Nothing of the command is started. Exits with 1 if something is wrong.
    """
    found = list(look_at_node())
    if context.args:
        found += look_at_command(context.args)
    if as_json:
        print(json.dumps([asdict(each) for each in found], indent=2))
    else:
        _print(found, bool(context.args))
    if any(each.state == State.WRONG for each in found):
        raise typer.Exit(1)


def _print(found: list[Finding], has_command: bool) -> None:
    width = max(len(each.subject) for each in found)
    indent = " " * (width + 9)
    for each in found:
        print_wrapped(f"{each.state:5}  {each.subject:{width}}  {each.says}", hanging=indent)
        if each.do:
            print_wrapped(f"{indent}-> {each.do}", hanging=f"{indent}   ")
    faults = sum(each.state == State.WRONG for each in found)
    print(f"\n{faults} wrong" if faults else "\nnothing wrong on this node")
    if not has_command:
        print("Name your command, too: thinwire doctor -- mpirun -n 4 ./program")
