"""Buffers of collectives as mpi4py spells them: an array, or a list of it and what lies in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.arrays import ArrayView, view_of
from thinwire.comm.operation_names import mpi4py_if_loaded
from thinwire.library import ffi

# mpi4py's spellings of the element types, by the names that MPI gives them.
_MPI_NAMES = {
    "MPI_BYTE": "bytes",
    "MPI_FLOAT": "f32",
    "MPI_DOUBLE": "f64",
    "MPI_REAL": "f32",
    "MPI_DOUBLE_PRECISION": "f64",
    "MPI_REAL4": "f32",
    "MPI_REAL8": "f64",
    "MPI_REAL2": "f16",
}

# Counts and displacements, which reductions have none of.
Lists = tuple[Sequence[int], Sequence[int] | None]


@dataclass(frozen=True)
class Buffer:
    """Memory and what lies in it, in elements of `dtype`. `count` is given or the array's own;
    `counts` and `displacements`, one a rank, are those of the v forms if they were given."""

    view: ArrayView
    name: str  # for errors: "send buffer"
    dtype: str
    count: int
    is_counted: bool  # whether the count was given
    counts: tuple[int, ...] | None
    displacements: tuple[int, ...] | None

    @property
    def capacity(self) -> int:
        """Elements that the memory holds."""
        return self.view.nbytes // dtypes.NUMPY[self.dtype].itemsize

    def of_one(self, ranks: int) -> int:
        """Elements of one rank's block: the given count, else an equal share of the array."""
        if self.is_counted:
            self.check(self.count * ranks)
            return self.count
        if self.count % ranks:
            raise ValueError(f"{self.name}: {self.count} elements are no {ranks} equal blocks")
        return self.count // ranks

    def check(self, wanted: int) -> None:
        """ValueError if the memory holds fewer elements."""
        if wanted > self.capacity:
            raise ValueError(f"{self.name}: {self.capacity} elements, where {wanted} are needed")

    def lists(self, ranks: int) -> tuple[list[int], list[int]]:
        """Counts and displacements of all ranks: as given, one block after another, or equal
        shares if no counts were."""
        counts = [self.of_one(ranks)] * ranks if self.counts is None else list(self.counts)
        offsets = [0, *np.cumsum(counts).tolist()][:-1]
        given = offsets if self.displacements is None else list(self.displacements)
        if len(counts) != ranks or len(given) != ranks:
            raise ValueError(
                f"{self.name}: {len(counts)} counts and {len(given)} displacements, where there "
                f"are {ranks} ranks"
            )
        if min(counts) < 0 or min(given) < 0:
            raise ValueError(f"{self.name}: counts and displacements are 0 and more")
        self.check(max((d + c for c, d in zip(counts, given, strict=True) if c), default=0))
        return counts, given


def read_buffer(spec: Any, name: str, stream: int | None, *, written: bool) -> Buffer:
    """`array`, `[array, type]`, `[array, count]`, `[array, counts]`, `[array, counts, displs]`,
    each with a type at the end if wanted, or `[array, (counts, displs), type]`. A type is a name
    of ours ("bf16"), numpy's or mpi4py's.

    ValueError if the array is not contiguous, or is `written` and cannot be; TypeError for
    what is no buffer.
    """
    array, *rest = spec if isinstance(spec, list | tuple) else [spec]
    asked = _type_of(rest.pop(), name) if rest and _is_type(rest[-1]) else None
    if len(rest) == 1 and isinstance(rest[0], list | tuple) and _is_pair(rest[0]):
        rest = list(rest[0])
    if len(rest) > 2:
        raise ValueError(f"{name}: [array, counts, displacements, type] at most")
    view = _view(array, name, stream, written)
    dtype, factor = _elements(view, asked, name)
    count, counts, displacements = view.nbytes // dtypes.NUMPY[dtype].itemsize, None, None
    is_counted = bool(rest) and isinstance(rest[0], int | np.integer)
    if is_counted:
        count = _whole(rest[0], name) * factor
    elif rest and rest[0] is not None:
        counts = tuple(_whole(each, name) * factor for each in rest[0])
    if len(rest) == 2 and rest[1] is not None and counts is not None:
        displacements = tuple(_whole(each, name) * factor for each in rest[1])
    buffer = Buffer(view, name, dtype, count, is_counted, counts, displacements)
    if is_counted:
        buffer.check(count)
    return buffer


def _is_type(word: Any) -> bool:
    mpi = mpi4py_if_loaded()
    if mpi is not None and isinstance(word, mpi.Datatype):
        return True
    return isinstance(word, str | np.dtype | type)


def _is_pair(words: Sequence[Any]) -> bool:
    """Whether these are (counts, displacements), and not counts."""
    return len(words) == 2 and isinstance(words[0], list | tuple | np.ndarray)


def _type_of(word: Any, name: str) -> tuple[str, int]:
    """Our name of a type, and of how many such elements it is one: what is no float, of bytes."""
    if isinstance(word, str) and word in dtypes.CODES:
        return word, 1
    if not isinstance(word, str | np.dtype | type):  # mpi4py's
        known = _MPI_NAMES.get(word.Get_name())
        if known is None:
            raise TypeError(f"{name}: elements of {word.Get_name()} are not floats or bytes")
        return known, 1
    try:
        asked = np.dtype(word)
    except TypeError as error:
        raise TypeError(f"{name}: {word!r} is no element type") from error
    known = dtypes.name_of_numpy(asked)
    return known, asked.itemsize // dtypes.NUMPY[known].itemsize


def _view(array: Any, name: str, stream: int | None, written: bool) -> ArrayView:
    if isinstance(array, np.ndarray) and not array.flags.c_contiguous:
        raise ValueError(
            f"{name}: the array is not contiguous in C order: pass numpy.ascontiguousarray(array)"
        )
    try:
        view = view_of(array, stream)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name}: {error}") from error
    if written and view.read_only:
        raise ValueError(f"{name}: it cannot be written to")
    return view


def _elements(view: ArrayView, asked: tuple[str, int] | None, name: str) -> tuple[str, int]:
    """The element type, and how many such elements one of the asked type, else of the array, is.
    What is no float travels as bytes."""
    dtype = asked[0] if asked else view.dtype
    itemsize = dtypes.NUMPY[dtype].itemsize
    if view.nbytes % itemsize:
        raise ValueError(f"{name}: {view.nbytes} bytes are no whole number of {dtype} values")
    return dtype, asked[1] if asked else view.itemsize // itemsize


def _whole(number: Any, name: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
        raise ValueError(f"{name}: {number!r} is no count")
    return int(number)


def not_in_place(buffer: Buffer | None) -> Buffer:
    if buffer is None:
        raise ValueError("in place is for the root alone")
    return buffer


def count_of_array(send: Buffer | None, receive: Buffer | None) -> int:
    """Elements of what is reduced."""
    count = not_in_place(send or receive).count
    if receive is not None:
        receive.check(count)
    return count


def check_block(send: Buffer | None, count: int) -> None:
    if send is not None and send.count != count:
        raise ValueError(
            f"send buffer: {send.count} elements, where {count} are received of this rank"
        )


def set_lists(call: Any, side: str, lists: Lists | None) -> list[Any]:
    """Returns what must be kept until the call is over."""
    if lists is None:
        return []
    kept = [None if each is None else ffi.new("uint64_t[]", list(each)) for each in lists]
    setattr(call, f"{side}_counts", kept[0])
    if kept[1] is not None:
        setattr(call, f"{side}_displacements", kept[1])
    return kept
