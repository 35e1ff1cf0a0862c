"""The MPIs that Thinwire has preload libraries for, and how a program shows that it needs one."""

import re
from collections.abc import Iterable

# By key of MPI_SHIMS; the order is that of messages.
FAMILIES = {"openmpi": "Open MPI", "mpich": "MPICH", "abi": "the MPI standard's ABI"}

# MPICH's kin (Intel MPI, MVAPICH, Cray's libmpi_cray and libmpi_gnu_*) share its ABI and number.
_SONAMES = (
    ("openmpi", re.compile(r"libmpi\.so\.40")),
    ("abi", re.compile(r"libmpi_abi\.so(\.\d+)?")),
    ("mpich", re.compile(r"lib(mpich|mpi|mpi_(cray|gnu|intel|nvidia|amd|aocc)\w*)\.so\.12")),
)
# As in libmpi.so.40.30.4, whose loader's name ends after the first number.
_FILE_NAME = re.compile(r"(.*\.so\.\d+)[.\d]*")
# An MPI all the same, of an ABI that no library here has.
_FOREIGN = re.compile(r"lib(mpi|mpich|mpi_ibm|mpi_mt)\.so(\.\d+)?")


def family_of(soname: str) -> str | None:
    """The key of the MPI whose library has that name; "" for a foreign MPI, None for no MPI."""
    for key, pattern in _SONAMES:
        if pattern.fullmatch(soname):
            return key
    return "" if _FOREIGN.fullmatch(soname) else None


def family_of_file(path: str) -> str | None:
    """As family_of(), of a file whose links are resolved."""
    match = _FILE_NAME.fullmatch(path.rpartition("/")[2])
    return None if match is None else family_of(match[1])


def names(keys: Iterable[str]) -> str:
    """As in "Open MPI or MPICH"."""
    wanted = set(keys)
    return " or ".join(name for key, name in FAMILIES.items() if key in wanted)
