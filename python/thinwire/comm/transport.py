"""What carries bytes between ranks: threads of this process, or an MPI."""

from typing import Any, Self

from thinwire.comm import mpi
from thinwire.library import check, ffi, ffi_new, library, new_struct

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
        keeper = mpi.fill(comm, struct)
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
