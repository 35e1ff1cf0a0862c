"""Options of `thinwire run` and `thinwire exec`, and the settings that they mean."""

from pathlib import Path
from typing import Annotated, Any

import typer

from thinwire.cli import values
from thinwire.library import parse_size
from thinwire.settings import value_of


def _codec_option(default: str | bool = True) -> Any:
    return typer.Option(
        help="Codec and its options, as in zfp:rate=16; lossless; auto; or off.",
        metavar="SPEC",
        envvar="THINWIRE_CODEC",
        show_envvar=True,
        show_default=default,
        callback=values.spec,
        autocompletion=values.complete_spec,
    )


CodecOption = Annotated[str, _codec_option()]
# The codec of THINWIRE_CONFIG's file holds if this is not given.
OwnCodecOption = Annotated[str | None, _codec_option("auto")]
ThresholdOption = Annotated[
    str | None,
    typer.Option(
        help="Do not compress smaller messages, as in 64KiB.", metavar="SIZE", callback=values.size
    ),
]
SameNodeOption = Annotated[
    bool, typer.Option("--same-node", help="Also compress between ranks of one node.")
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        help="The network's rate, as in 1gbit: of a node's port. MPI messages over TCP measure it "
        "after a while, and nothing else does. Without it messages stay raw until then, and NCCL's "
        "calls go by the rates that this machine's interfaces tell.",
        metavar="RATE",
        callback=values.link_rate,
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Compress also where that is predicted not to gain.")
]
ReportOption = Annotated[
    str | None,
    typer.Option(
        help="Report what was compressed, and why the rest was not: 1 for standard error, or a "
        "file for JSON.",
        metavar="1|FILE",
    ),
]
TraceOption = Annotated[
    Path | None,
    typer.Option(
        help="Trace what is sent to whom, over time: each rank writes this path with .rankN after "
        "it, for `thinwire report`.",
        metavar="PATH",
    ),
]
ReferencesOption = Annotated[
    str | None,
    typer.Option(
        help="Of programs that call NCCL: most memory in which a communicator keeps results of "
        "gathers and broadcasts, to code the next ones as differences from them. None otherwise.",
        metavar="SIZE",
        callback=values.size,
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(
        help="A file of rules that name codecs by communicator, operation, type and size.",
        metavar="FILE",
        envvar="THINWIRE_POLICY",
        show_envvar=True,
        callback=values.policy,
    ),
]
NcclOption = Annotated[
    bool | None,
    typer.Option(
        "--nccl/--no-nccl",
        help="Whether the program calls NCCL; found out unless given, which it does not always "
        "show.",
        show_default=False,
    ),
]
LogOption = Annotated[values.Level | None, typer.Option(help="What is logged on standard error.")]


def settings(
    codec: str | None,
    policy: Path | None,
    threshold: str | None,
    same_node: bool,
    link: str | None,
    report: str | None,
    log: values.Level | None,
    trace: Path | None = None,
    *,
    force: bool = False,
    references: str | None = None,
) -> dict[str, str]:
    """The environment that these options mean."""
    found = {"THINWIRE_CODEC": codec or value_of("THINWIRE_CODEC") or "auto"}
    if policy is not None:
        found["THINWIRE_POLICY"] = str(policy.resolve())
    if threshold is not None:
        found["THINWIRE_THRESHOLD"] = str(parse_size(threshold))
    if same_node:
        found["THINWIRE_SAME_NODE"] = "1"
    if link is not None:
        found["THINWIRE_LINK"] = link
    if force:
        found["THINWIRE_FORCE"] = "1"
    if references is not None:
        found["THINWIRE_REFERENCES"] = str(parse_size(references))
    if report is not None:
        found["THINWIRE_REPORT"] = report if report in ("0", "1") else str(Path(report).resolve())
    if trace is not None:
        found["THINWIRE_TRACE"] = str(trace.resolve())
    if log is not None:
        found["THINWIRE_LOG"] = log.value
    return found
