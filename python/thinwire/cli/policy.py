"""`thinwire policy`: what the rules of a policy file say, and which one takes a call."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from thinwire.bench.layout import print_wrapped
from thinwire.cli import values
from thinwire.cli.values import Dtype, Operation
from thinwire.library import parse_size
from thinwire.policy import Policy, PolicyRule

app = typer.Typer(
    rich_markup_mode="markdown",
    no_args_is_help=True,
    help="Files of rules that name codecs by communicator, operation, type and size.",
)

FileArgument = Annotated[Path, typer.Argument(help="The policy's file, as THINWIRE_POLICY names.")]


class Span(StrEnum):
    """Where what is sent goes."""

    WITHIN_NODE = "within-node"
    BETWEEN_NODES = "between-nodes"


@app.command()
def check(file: FileArgument) -> None:
    """Say each rule of a policy in words, in the order in which they are tried; a wrong file ends
    with its line and what is wrong there."""
    rules = Policy(file).rules
    for rule in rules:
        print_wrapped(say_rule(rule), indent="")
    print_wrapped("what no rule takes: as without a policy", indent="")


@app.command()
def explain(
    file: FileArgument,
    operation: Annotated[Operation, typer.Option("--op", help="The operation.")],
    dtype: Annotated[Dtype, typer.Option(help="The element type.")],
    size: Annotated[
        str, typer.Option(callback=values.size, help="Uncompressed bytes, as in 4MiB.")
    ],
    comm: Annotated[str | None, typer.Option(help="The communicator's name.")] = None,
    ranks: Annotated[int, typer.Option(min=0, help="The communicator's ranks.")] = 0,
    span: Annotated[Span | None, typer.Option(help="Where it goes.")] = None,
) -> None:
    """Say which rule of a policy takes a call, and what codec that names. What is not given of a
    communicator matches no rule that asks for it."""
    found = Policy(file).match(
        operation.value,
        dtype.value,
        parse_size(size),
        communicator=comm,
        ranks=ranks,
        span=span.value if span else "",
    )
    if found is None:
        print("no rule takes it: as without a policy")
        return
    print_wrapped(say_rule(found), indent="")


def say_rule(rule: PolicyRule) -> str:
    """A rule as `check` and `explain` say it."""
    name = f", {rule.name}" if rule.name else ""
    return f"rule {rule.index + 1} (line {rule.line}{name}): {rule.text}"
