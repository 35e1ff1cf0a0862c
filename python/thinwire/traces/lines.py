"""What a line of a trace may say (docs/reference/trace.md): ValueError for anything else."""

from typing import Any

from thinwire import checked

MOST_RANKS = (1 << 31) - 1
BUCKETS = 64  # of a histogram: powers of two that 64 bits hold
FIGURES_OF_A_ROW = 11
_WORDS_OF_A_CELL = ("operation", "communicator", "place", "codec", "raw")
_COUNTS_OF_A_BIN = (
    "below_threshold",
    "decoded",
    "decode_nanoseconds",
    "damaged",
    "without_memory",
    "device_failures",
    "pool_bytes",
    "pool_peak_bytes",
)
_COUNTS_OF_STEPS = ("compressed", "compressed_nanoseconds", "raw", "raw_nanoseconds")
# Totals that the page adds up.
_COUNTS_OF_TOTALS = (
    "messages",
    "compressed_messages",
    "bytes",
    "wire_bytes",
    "compressed_bytes",
    "compressed_wire_bytes",
)
_COUNTS_OF_COLLECTIVES = ("compressed", "bytes", "wire_bytes", "native_calls", "native_bytes")


def check_head(head: dict[str, Any]) -> None:
    """The first line, after its version."""
    for name in ("version", "node", "mpi", "processor", "codec"):
        checked.text(checked.field(head, name), name)
    ranks = checked.count(checked.field(head, "ranks"), "ranks", MOST_RANKS)
    checked.count(checked.field(head, "rank"), "rank", max(ranks, 1) - 1)
    checked.number(checked.field(head, "started"), "started")
    checked.count(checked.field(head, "processors"), "processors")
    checked.count(checked.field(head, "threshold"), "threshold")
    checked.flag(checked.field(head, "threads"), "threads")
    for name, value in checked.table(checked.field(head, "settings"), "settings").items():
        checked.text(value, name)


def check_cell(line: dict[str, Any], cells: int, ranks: int) -> dict[str, Any]:
    """A cell's words; `cells` is how many there are before it."""
    if checked.count(line["cell"], "cell") != cells:
        raise ValueError("its cells are not in order")
    words = {name: value for name, value in line.items() if name != "cell"}
    checked.text(checked.field(words, "operation"), "operation")
    for name, value in words.items():
        if name == "peer":
            checked.count(value, name, ranks - 1)
        elif name in _WORDS_OF_A_CELL:
            checked.text(value, name)
        else:
            raise ValueError(f"a cell has no {name}")
    return words


def check_bin(line: dict[str, Any], cells: int) -> None:
    """A bin; `cells` is how many cells there are."""
    start = checked.number(line["from"], "from")
    if checked.number(checked.field(line, "to"), "to") < start:
        raise ValueError("it ends before it begins")
    for name in _COUNTS_OF_A_BIN:
        checked.count(checked.field(line, name), name)
    for row in checked.sequence(checked.field(line, "cells"), "cells"):
        _check_row(row, cells)
    if "steps" in line:
        _check_steps(checked.table(line["steps"], "steps"))


def _check_steps(steps: dict[str, Any]) -> None:
    """Steps that ended in a bin."""
    if checked.count(checked.field(steps, "calls"), "calls of a step") == 0:
        raise ValueError("a step has no calls")
    for name in _COUNTS_OF_STEPS:
        checked.count(checked.field(steps, name), name)
    if steps["compressed"] + steps["raw"] == 0:
        raise ValueError("no step has ended")
    for name in ("compressed", "raw"):
        if steps[name] == 0 and steps[f"{name}_nanoseconds"] != 0:
            raise ValueError(f"time of {name} steps, of which there are none")


def _check_row(row: Any, cells: int) -> None:
    figures = checked.sequence(row, "a cell's row", FIGURES_OF_A_ROW)
    if checked.count(figures[0], "a cell's number") >= cells:
        raise ValueError(f"there is no cell {figures[0]}")
    for figure in (*figures[1:6], *figures[9:]):
        checked.count(figure, "a cell's figure")
    for histogram in figures[6:9]:
        for pair in checked.sequence(histogram, "a histogram"):
            bucket, calls = checked.sequence(pair, "a bucket", 2)
            checked.count(bucket, "a bucket", BUCKETS - 1)
            checked.count(calls, "a bucket's count")


def check_end(line: dict[str, Any]) -> None:
    """The last line."""
    checked.number(line["end"], "end")
    checked.flag(checked.field(line, "whole"), "whole")
    totals = checked.field(line, "totals")
    if totals is not None:
        _check_totals(checked.table(totals, "totals"))


def _check_totals(totals: dict[str, Any]) -> None:
    for name in _COUNTS_OF_TOTALS:
        checked.count(checked.field(totals, name), name)
    for name in ("encode_seconds", "decode_seconds"):
        checked.number(checked.field(totals, name), name)
    collectives = checked.table(checked.field(totals, "collectives"), "collectives")
    for name in _COUNTS_OF_COLLECTIVES:
        checked.count(checked.field(collectives, name), name)
    for rule in checked.sequence(totals.get("rules", []), "rules"):
        checked.count(checked.field(checked.table(rule, "a rule"), "line"), "line")
    _check_figures(totals, "totals")


def _check_figures(value: Any, name: str) -> None:
    """Of totals that are handed on: numbers that add up, texts, and tables of them."""
    if isinstance(value, dict):
        for inner, each in value.items():
            _check_figures(each, inner)
    elif isinstance(value, list):
        for each in value:
            _check_figures(each, name)
    elif isinstance(value, int | float) and abs(value) > checked.MOST_COUNT:
        raise ValueError(f"{name} is out of range")
