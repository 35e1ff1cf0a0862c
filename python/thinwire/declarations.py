"""The C library's declarations: read from its header or, since cffi takes longer for that than a
command for all else, from what `tools/declarations` made of a header with the same ones."""

import re
import zlib
from typing import Any

# A function of the preload libraries for MPI, which no header of the core has.
_TRANSPORT = "tw_status tw_mpi_transport(const void *comm_address, tw_transport *transport);\n"


def of_header(header: str) -> str:
    """The declarations that a text of thinwire.h has."""
    found = re.search(r"/\* BEGIN declarations \*/(.*)/\* END declarations \*/", header, re.S)
    assert found is not None, "thinwire.h has lost its marks"
    return found[1] + _TRANSPORT


def mark_of(declarations: str) -> tuple[int, int]:
    """Tells declarations apart."""
    encoded = declarations.encode()
    return len(encoded), zlib.crc32(encoded)


def ffi_of(declarations: str | None) -> tuple[Any, tuple[int, int]]:
    """An FFI that knows them, and their mark; None: there is no header yet, and the made ones are
    taken."""
    from thinwire import declared

    if declarations is None or mark_of(declarations) == declared.MARK:
        return declared.ffi, declared.MARK
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(declarations)
    return ffi, mark_of(declarations)
