"""Ranks of an MPI: the transport of the preload library that fits the program's MPI."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from thinwire.launch.families import family_of_file, names
from thinwire.library import (
    MPI_SHIMS,
    ThinwireError,
    ffi,
    library,
    loading,
    text,
    transport_library,
)

_ENTRY = "tw_status tw_mpi_transport(const void *comm_address, tw_transport *transport);"


def fill(comm: Any, struct: Any) -> object:
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
    """The key of MPI_SHIMS for the MPI that this process has loaded; RuntimeError where there is
    none or where there are several."""
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
    ffi.cdef(_ENTRY)
    return ffi.dlopen(str(transport_library(family)))
