"""What carries bytes between ranks: threads of this process, or an MPI."""

import os
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

from thinwire.launch.families import family_of_file, names
from thinwire.library import (
    MPI_SHIMS,
    ThinwireError,
    check,
    ffi,
    ffi_new,
    library,
    loading,
    new_struct,
    text,
    transport_library,
)

MOST_RANKS = 2**31 - 1  # numbers of ranks are int in MPI


class Transport:
    """One rank's end of a tw_transport. The communicator made from it owns it from then on; until
    then this object does."""

    def __init__(self, struct: Any, keeper: object = None) -> None:
        """`struct` is a filled tw_transport; `keeper` is kept as long as it may be called. What is
        of Python's has `interrupts.keep` as its `onerror`: so Ctrl-C comes out of a call."""
        self.struct, self.keeper = struct, keeper
        self._taken = False

    @classmethod
    def local(cls, ranks: int) -> list[Self]:
        """The ends of ranks that are threads of this process. Raises ThinwireError, ValueError for
        a number that is none of ranks."""
        if not 0 <= ranks <= MOST_RANKS:
            raise ValueError(f"ranks: {ranks} is out of range")
        structs = ffi_new(f"tw_transport[{max(1, ranks)}]")
        for index in range(ranks):
            structs[index].size = ffi.sizeof("tw_transport")
        check(library().tw_transport_local(ranks, structs))
        return [cls(ffi.addressof(structs, index), structs) for index in range(ranks)]

    @classmethod
    def of_mpi(cls, comm: Any) -> Self:
        """This rank's end of an mpi4py communicator, of which it makes a duplicate: collective.
        Raises ThinwireError, ValueError for an intercommunicator, FileNotFoundError if this
        installation has no library for the program's MPI."""
        struct = new_struct("tw_transport")
        keeper = _fill(comm, struct)
        return cls(struct, keeper)

    @property
    def rank(self) -> int:
        return self.struct.rank

    @property
    def ranks(self) -> int:
        return self.struct.ranks

    def take(self) -> Any:
        """The struct, for a call that takes it over."""
        if self._taken:
            raise ValueError("this end of a transport belongs to a communicator already")
        self._taken = True
        return self.struct

    def __del__(self) -> None:
        if not getattr(self, "_taken", True) and self.struct.release != ffi.NULL:
            self.struct.release(self.struct.context)


def in_threads(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the calls return, each in a thread of its own; the first one's error if any has
    one, after all have ended."""
    results: list[Any] = [None] * len(calls)
    errors: list[BaseException | None] = [None] * len(calls)

    def run(index: int) -> None:
        try:
            results[index] = calls[index]()
        except BaseException as error:  # noqa: BLE001, raised again below
            errors[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in filter(None, errors):
        raise error
    return results


def _fill(comm: Any, struct: Any) -> object:
    """Fills a tw_transport with the ranks of an mpi4py communicator; returns what must be kept
    while it is used. Collective. Errors as Transport.of_mpi()."""
    from mpi4py import MPI

    if comm.Is_inter():
        raise ValueError("an intercommunicator has two groups: pass an intracommunicator")
    shim = _shim(_family())
    status = shim.tw_mpi_transport(ffi.cast("void *", MPI._addressof(comm)), struct)
    if status:
        words = text(library().tw_status_text(status))
        raise ThinwireError(status, f"{words}: no transport over {comm.name or 'this group'}")
    return shim, comm


def nodes_of(comm: Any) -> list[int]:
    """The node of each rank, as the least rank that lies there. Collective."""
    from mpi4py import MPI

    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    try:
        return comm.allgather(node.bcast(comm.rank, root=0))
    finally:
        node.Free()


def is_finalized() -> bool:
    from mpi4py import MPI

    return MPI.Is_finalized()


def _family() -> str:
    """The key of MPI_SHIMS for the MPI that this process has loaded; RuntimeError if there is
    none or if there are several."""
    # Names may be of any bytes but a line's end, which the kernel writes as \\012.
    maps = os.fsdecode(Path("/proc/self/maps").read_bytes())
    mapped = {words[5] for line in maps.split("\n") if len(words := line.split(maxsplit=5)) == 6}
    found = {family for path in mapped if (family := family_of_file(path))}
    if len(found) != 1:
        raise RuntimeError(
            f"this process has loaded {names(found) or 'no MPI'}: the transport is of one of "
            f"{names(MPI_SHIMS)}"
        )
    return found.pop()


@cache
def _shim(family: str) -> Any:
    """The preload library of an MPI, loaded beside it: its own MPI_ symbols stay hidden."""
    library()
    with loading:
        return _loaded(family)


@cache
def _loaded(family: str) -> Any:
    return ffi.dlopen(str(transport_library(family)))
