"""A job's sums as Prometheus reads them from a file. The list of metrics is the one below: the
table of docs/reference/report.md is made from it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from thinwire.reports.merge import Merged
from thinwire.reports.sums import MOST_OPERATIONS, MOST_REASONS, Operation

PREFIX = "thinwire_job_"  # of no metric that THINWIRE_METRICS writes
OF_ALL = ("job_id", "codec")
# Series of any job: for both libraries 6 an operation and all reasons, and 17 of the rest.
_OPERATIONS = MOST_OPERATIONS + 1  # the others
MOST_SERIES = 2 * (6 * _OPERATIONS + MOST_REASONS + _OPERATIONS) + 17

Sample = tuple[tuple[str, ...], float]


class Metric(NamedTuple):
    """`labels` are its own, besides those of all; `samples` gives their values, and the figure."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...]
    samples: Callable[[Merged], Iterable[Sample]]


def _one(figure: Callable[[Merged], float]) -> Callable[[Merged], Iterable[Sample]]:
    return lambda merged: [((), figure(merged))]


def _calls(figure: Callable[[Operation], int]) -> Callable[[Merged], Iterable[Sample]]:
    return lambda merged: [
        ((name, operation), figure(each))
        for name, library in merged.sums.libraries()
        for operation, each in library.operations.items()
    ]


def _named(name: str) -> Callable[[Merged], Iterable[Sample]]:
    return lambda merged: [((of,), each) for of, each in getattr(merged.sums, name).items()]


def _raw(merged: Merged) -> Iterable[Sample]:
    for name, library in merged.sums.libraries():
        for (operation, reason), calls in library.raw.items():
            yield (name, operation, reason), calls


_CALLS = ("library", "operation")

METRICS = (
    Metric("reports", "gauge", "Reports that were merged.", (), _one(lambda of: of.reports)),
    Metric(
        "reports_left_out",
        "gauge",
        "Files that were damaged, or no reports.",
        (),
        _one(lambda of: of.left_out),
    ),
    Metric(
        "end_timestamp_seconds",
        "gauge",
        "When the last report was written, since 1970.",
        (),
        _one(lambda of: of.ended),
    ),
    Metric(
        "calls_total",
        "counter",
        "Messages and collective calls.",
        _CALLS,
        _calls(lambda of: of.calls),
    ),
    Metric(
        "compressed_calls_total",
        "counter",
        "Messages and calls that were compressed.",
        _CALLS,
        _calls(lambda of: of.compressed_calls),
    ),
    Metric(
        "raw_calls_total",
        "counter",
        "Messages and calls that went raw, by reason.",
        (*_CALLS, "reason"),
        _raw,
    ),
    Metric(
        "bytes_total",
        "counter",
        "Bytes of messages and calls in the program.",
        _CALLS,
        _calls(lambda of: of.bytes),
    ),
    Metric(
        "sent_bytes_total",
        "counter",
        "Bytes of messages and calls as sent.",
        _CALLS,
        _calls(lambda of: of.sent_bytes),
    ),
    Metric(
        "compressed_bytes_total",
        "counter",
        "Bytes in the program of what was compressed.",
        _CALLS,
        _calls(lambda of: of.compressed_bytes),
    ),
    Metric(
        "compressed_sent_bytes_total",
        "counter",
        "Bytes as sent of what was compressed.",
        _CALLS,
        _calls(lambda of: of.compressed_sent_bytes),
    ),
    Metric(
        "encode_seconds_total",
        "counter",
        "Time of encoding in MPI programs, summed over ranks.",
        ("operation",),
        _named("encode_seconds"),
    ),
    Metric(
        "decode_seconds_total",
        "counter",
        "Time of decoding in MPI programs, summed over ranks.",
        ("operation",),
        _named("decode_seconds"),
    ),
    Metric(
        "saved_seconds",
        "gauge",
        "Time saved, below 0 if more was spent: timed of collectives, predicted of messages.",
        ("operation",),
        _named("saved_seconds"),
    ),
    Metric(
        "decoded_messages_total",
        "counter",
        "Messages that were decoded.",
        (),
        _one(lambda of: of.sums.decoded_messages),
    ),
    Metric(
        "damaged_messages_total",
        "counter",
        "Messages that could not be decoded.",
        (),
        _one(lambda of: of.sums.damaged_messages),
    ),
    Metric(
        "messages_without_memory_total",
        "counter",
        "Messages that there was no memory to decode.",
        (),
        _one(lambda of: of.sums.messages_without_memory),
    ),
    Metric(
        "device_failures_total",
        "counter",
        "Calls that a GPU or its driver refused.",
        (),
        _one(lambda of: of.sums.device_failures),
    ),
    Metric(
        "spilled_blocks_total",
        "counter",
        "Blocks of NCCL calls that did not fit and went by the hosts.",
        (),
        _one(lambda of: of.sums.spilled_blocks),
    ),
    Metric(
        "scratch_peak_bytes",
        "gauge",
        "The most memory that the library held, summed over ranks.",
        ("memory",),
        _named("scratch_peak_bytes"),
    ),
)


def escaped(value: str) -> str:
    """As a label's value is written."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _line(metric: Metric, of_all: tuple[str, ...], sample: Sample) -> str:
    names, values = (*OF_ALL, *metric.labels), (*of_all, *sample[0])
    labels = ",".join(f'{a}="{escaped(b)}"' for a, b in zip(names, values, strict=True))
    return f"{PREFIX}{metric.name}{{{labels}}} {sample[1]!r}\n"


def text(merged: Merged) -> str:
    """The file that node_exporter reads: no two lines have the same name and labels."""
    of_all = (merged.job, merged.sums.codec)
    parts = []
    for metric in METRICS:
        name = PREFIX + metric.name
        parts.append(f"# HELP {name} {metric.help}\n# TYPE {name} {metric.kind}\n")
        parts += [_line(metric, of_all, each) for each in metric.samples(merged)]
    return "".join(parts)


def table() -> str:
    """The page's table of metrics."""
    rows = []
    for each in METRICS:
        labels = ", ".join(f"`{label}`" for label in each.labels)
        rows.append(
            f"| `{PREFIX}{each.name}` | {each.kind} | {labels} | {each.help.rstrip('.')} |\n"
        )
    return "| metric | type | labels | |\n|---|---|---|---|\n" + "".join(rows)
