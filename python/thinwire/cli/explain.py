"""`thinwire explain`: what would be done with a message or a collective, and why."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from thinwire.bench import explain as explainer
from thinwire.bench import prices
from thinwire.bench.explain import Explanation, Row, ms
from thinwire.bench.layout import print_wrapped
from thinwire.bench.output import Column, number, print_table
from thinwire.bench.prices import Call
from thinwire.cli import values
from thinwire.cli.policy import Operation, say_rule
from thinwire.cli.run_options import CodecOption, PolicyOption
from thinwire.cli.values import Dtype
from thinwire.codec import Codec
from thinwire.costs import link_of_nccl
from thinwire.library import parse_link_rate, parse_size
from thinwire.plan import PlanSettings
from thinwire.policy import Policy, PolicyRule

OF_BLOCKS = (Operation.GATHER, Operation.SCATTER, Operation.ALLGATHER, Operation.ALLTOALL)

COLUMNS: list[Column] = [
    ("candidate", lambda row: row.candidate),
    ("ratio", lambda row: number(row.ratio, ".3f")),
    ("needs", lambda row: number(row.needed_ratio, ".3f")),
    ("encode ms", lambda row: _ms(row.encode_seconds)),
    ("transfer ms", lambda row: _ms(row.transfer_seconds)),
    ("decode ms", lambda row: _ms(row.decode_seconds)),
    ("total ms", lambda row: _ms(row.seconds)),
    ("", lambda row: row.note),
]


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else ms(seconds)


def explain(
    nbytes: Annotated[
        str, typer.Option("--bytes", help="Uncompressed bytes, as in 16MiB.", callback=values.size)
    ],
    dtype: Annotated[Dtype, typer.Option(help="The element type.")] = Dtype.F32,
    codec: CodecOption = "auto",
    policy: PolicyOption = None,
    link: Annotated[
        str | None,
        typer.Option(
            help="The link's rate, as in 1gbit.",
            metavar="RATE",
            envvar="THINWIRE_LINK",
            show_envvar=True,
            callback=values.link_rate,
        ),
    ] = None,
    operation: Annotated[
        Operation, typer.Option("--op", help="A message between two ranks, or a collective.")
    ] = Operation.SEND,
    ranks: Annotated[int, typer.Option(min=2, help="The communicator's ranks.")] = 2,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="The nodes that they lie on; else one a rank.")
    ] = None,
    comm_name: Annotated[
        str | None, typer.Option(help="The communicator's name, for the rules of a policy.")
    ] = None,
    threshold: Annotated[
        str,
        typer.Option(
            help="Smaller messages and collectives go raw.",
            metavar="SIZE",
            envvar="THINWIRE_THRESHOLD",
            show_envvar=True,
            callback=values.size,
        ),
    ] = "64KiB",
    same_node: Annotated[
        bool, typer.Option("--same-node", help="Also compress between ranks of one node.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            callback=values.place_of_array,
            help="A file of such values, of which samples give ratio and speed.",
        ),
    ] = None,
    nccl: Annotated[
        bool,
        typer.Option(
            "--nccl", help="Of NCCL: without --link by the interfaces of this host that it uses."
        ),
    ] = False,
    window: Annotated[
        bool, typer.Option("--window", help="Of NCCL, in a window of symmetric memory.")
    ] = False,
    zero_cta: Annotated[
        bool, typer.Option("--zero-cta", help="Of NCCL, under the zero-CTA policy.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what would be done with a message or a collective, and why.

    As in: thinwire explain --bytes 16MiB --link 1gbit --codec mpc

    The choice is the library's own: it is made from these figures as a program makes it. A
    collective's bytes are those of the whole operation: the array of bcast, reduce and allreduce,
    else the blocks of all ranks.
    """
    nodes = ranks if nodes is None else nodes
    if nodes > ranks:
        raise typer.BadParameter(f"{nodes} nodes for {ranks} ranks")
    call = Call(operation.value, parse_size(nbytes), dtype.value, ranks, nodes)
    rule, rule_words = _rule(policy, call, comm_name)
    spec = codec if rule is None or rule.codec == "default" else rule.codec
    rate = parse_link_rate(link) if link else None
    if rate is None and (nccl or window or zero_cta):
        rate = link_of_nccl(-(-ranks // nodes)) or None
        link = f"{rate * 8e-9:g}gbit by this host's interfaces" if rate else None
    try:
        price = prices.by_file(data, call) if data else prices.by_table_or_measuring(call)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    # In MPI programs the threshold is that of one rank's block, if the operation has blocks.
    least = parse_size(threshold)
    of_all = least * ranks if operation in OF_BLOCKS else least
    settings = PlanSettings(of_all, same_node, rate)
    found = explainer.explain(Codec(spec), call, settings, price)
    if window or zero_cta:
        found = explainer.left_to_nccl(found, explainer.IN_WINDOW if window else explainer.ZERO_CTA)
    if as_json:
        print(json.dumps(_as_json(found, call, rate, least, rule_words), indent=2))
        return
    print_wrapped(_heading(call, link, threshold))
    if rule_words:
        print_wrapped(rule_words)
    print_wrapped(f"codec: {found.codec}" + (f"; costs: {found.costs}" if found.costs else ""))
    rows: list[Row] = found.rows
    print_table(rows, COLUMNS)
    how = f" ({found.algorithm}, {found.coding})" if found.algorithm and not found.why_raw else ""
    print_wrapped(found.sentence + how)


def _rule(policy: Path | None, call: Call, name: str | None) -> tuple[PolicyRule | None, str]:
    if policy is None:
        return None, ""
    span = "within-node" if call.nodes == 1 else "between-nodes"
    rule = Policy(policy).match(
        call.operation, call.dtype, call.bytes, communicator=name, ranks=call.ranks, span=span
    )
    return rule, "no rule takes it: as without a policy" if rule is None else say_rule(rule)


def _heading(call: Call, link: str | None, threshold: str) -> str:
    what = "message" if call.operation == "send" else call.operation
    where = f"{call.ranks} ranks on {call.nodes} node{'s' if call.nodes > 1 else ''}"
    rate = f"link {link}" if link else "no link's rate stated"
    return f"{what} of {call.bytes} bytes of {call.dtype}, {where}; {rate}; threshold {threshold}"


def _as_json(
    found: Explanation, call: Call, link: float | None, threshold: int, rule: str
) -> dict[str, Any]:
    return {
        "call": asdict(call),
        "link_bytes_per_second": link,
        "threshold": threshold,
        "rule": rule,
        **asdict(found),
    }
