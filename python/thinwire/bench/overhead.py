"""What the preload library adds to a pair of messages too small to compress."""

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinwire.bench.output import failed_row, say
from thinwire.bench.programs import Loopback, RunError, read_report, run_program, under_shim

# A run of the default number of batches takes about a tenth of a second a size.
TIME_LIMIT = 300.0

Progress = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class OverheadRow:
    """Nanoseconds of one Irecv, Isend and Waitall of one process to itself, the least of all
    batches of all alternations. `messages` is how many the shim saw. Figures are None if the
    row is not verified, and `note` then says why."""

    bytes: int
    native_nanoseconds: float | None
    shim_nanoseconds: float | None
    added_nanoseconds: float | None
    alternations: int
    messages: int
    verified: bool
    note: str


def measure(
    program: Path,
    spec: str,
    alternations: int,
    batches: int,
    progress: Progress,
    threads: bool = False,
    same_node: bool = False,
) -> list[OverheadRow]:
    """Runs the program natively and under the shim by turns. An alternation that fails is a row of
    its own, of 0 bytes; BenchError if nothing can run.

    With `threads` it asks for MPI_THREAD_MULTIPLE. With `same_node` its peer, itself, is one that
    may compress, as those on other nodes are.
    """
    native: list[dict[int, dict[str, Any]]] = []
    shimmed: list[dict[int, dict[str, Any]]] = []
    reports: list[dict[str, Any]] = []
    failed: list[OverheadRow] = []
    command = ["mpirun", "-n", "1", str(program), str(batches), *(["threads"] if threads else [])]
    options = ["--same-node"] if same_node else []
    with tempfile.TemporaryDirectory(prefix="thinwire-bench-") as folder:
        report = Path(folder) / "report.json"
        for turn in range(1, alternations + 1):
            try:
                with progress(f"alternation {turn} of {alternations}"):
                    bare = _run(command)
                    report.unlink(missing_ok=True)
                    under = _run(under_shim(spec, report, options, command))
                    reports.append(read_report(report))
            except RunError as error:
                say(f"FAILED alternation {turn}: {error}")
                failed.append(failed_row(OverheadRow, error))
            else:
                native.append(bare)
                shimmed.append(under)
    note = _problem(shimmed, reports)
    return [_row(size, native, shimmed, note) for size in (native[0] if native else ())] + failed


def _run(command: list[str]) -> dict[int, dict[str, Any]]:
    return {line["bytes"]: line for line in run_program(Loopback(), command, TIME_LIMIT)}


def _problem(shimmed: list[dict[int, dict[str, Any]]], reports: list[dict[str, Any]]) -> str:
    """Whether every message passed through the shim, and none was compressed."""
    for lines, report in zip(shimmed, reports, strict=True):
        sent = sum(line["messages"] for line in lines.values())
        if report["messages"] != sent or report["compressed_messages"]:
            return (
                f"the shim saw {report['messages']} messages of {sent} "
                f"and compressed {report['compressed_messages']}"
            )
    return ""


def _row(
    size: int,
    native: list[dict[int, dict[str, Any]]],
    shimmed: list[dict[int, dict[str, Any]]],
    note: str,
) -> OverheadRow:
    if not all(run[size]["verified"] for run in [*native, *shimmed]):
        note = "a message changed on its way"
    bare = min(run[size]["nanoseconds"] for run in native)
    under = min(run[size]["nanoseconds"] for run in shimmed)
    return OverheadRow(
        bytes=size,
        native_nanoseconds=None if note else bare,
        shim_nanoseconds=None if note else under,
        added_nanoseconds=None if note else under - bare,
        alternations=len(native),
        messages=sum(run[size]["messages"] for run in shimmed),
        verified=not note,
        note=note,
    )
