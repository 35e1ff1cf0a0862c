"""What collectives are called in Python, in the C interface and in mpi4py."""

import sys
from enum import Enum
from functools import cache
from typing import Any

from thinwire.library import ffi, ffi_new, library, text

# More than any of the library's enumerations has.
MOST_CODES = 64


class InPlace(Enum):
    """As a send buffer: what this rank contributes lies in its receive buffer, where MPI has
    it."""

    IN_PLACE = 0


class Reduction(Enum):
    """How contributions become one value. Codes are tw_reduction."""

    SUM = 0
    PROD = 1
    MIN = 2
    MAX = 3


IN_PLACE = InPlace.IN_PLACE
SUM, PROD, MIN, MAX = Reduction.SUM, Reduction.PROD, Reduction.MIN, Reduction.MAX


def mpi4py_if_loaded() -> Any:
    """mpi4py's MPI module where the program has it, else None: importing it would start MPI."""
    return sys.modules.get("mpi4py.MPI")


def is_in_place(buffer: Any) -> bool:
    mpi = mpi4py_if_loaded()
    return buffer is IN_PLACE or (mpi is not None and buffer is mpi.IN_PLACE)


def reduction_code(op: Any) -> int:
    """tw_reduction of an operation, ours or mpi4py's; ValueError for one that there is not."""
    if isinstance(op, Reduction):
        return op.value
    mpi = mpi4py_if_loaded()
    if mpi is not None and isinstance(op, mpi.Op):
        for each in Reduction:
            if op == getattr(mpi, each.name):
                return each.value
    known = ", ".join(each.name for each in Reduction)
    raise ValueError(f"op: {op!r} is none of {known}")


@cache
def operations() -> dict[str, int]:
    """tw_operation by name, as in "allreduce"."""
    return _codes(library().tw_operation_text)


@cache
def algorithms() -> dict[str, int]:
    """tw_algorithm by name, as in "recursive-doubling"."""
    return _codes(library().tw_algorithm_text)


@cache
def codings() -> dict[str, int]:
    """tw_coding by name, as in "per-hop"."""
    return _codes(library().tw_coding_text)


def _codes(text_of: Any) -> dict[str, int]:
    names = [text_of(code) for code in range(MOST_CODES)]
    return {text(name): code for code, name in enumerate(names) if name != ffi.NULL}


def code_of(what: str, names: dict[str, int], name: str | None) -> int:
    """The code of a name, 0 for None; ValueError for a name that there is not."""
    if name is None:
        return 0
    if name not in names:
        raise ValueError(f"{what}: {name!r} is none of {', '.join(names)}")
    return names[name]


def name_of(names: dict[str, int], code: int) -> str:
    return next(name for name, each in names.items() if each == code)


def schedules() -> list[tuple[str, str, str]]:
    """Operation, algorithm and coding of every schedule that there is."""
    lib = library()
    found: list[tuple[str, str, str]] = []
    codes = [ffi_new("uint32_t *") for _ in range(3)]
    while lib.tw_schedule_describe(len(found), *codes):
        operation, algorithm, coding = (code[0] for code in codes)
        found.append(
            (
                name_of(operations(), operation),
                name_of(algorithms(), algorithm),
                name_of(codings(), coding),
            )
        )
    return found
