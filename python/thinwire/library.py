"""The C library, loaded once; its header is the one source of the declarations."""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from thinwire.declarations import ffi_of, mark_of, of_header
from thinwire.errors import ThinwireError

PACKAGE = Path(__file__).resolve().parent
# By handle ABI; a build may lack some of these. The libraries of one differ in what they export,
# as the MPIs do: the first exports the fewest names (shim/mpi/exports.cmake).
MPI_SHIMS = {
    "openmpi": ("libthinwire_mpi_openmpi4.so", "libthinwire_mpi_openmpi5.so"),
    "mpich": (
        "libthinwire_mpi_mpich3.so",
        "libthinwire_mpi_mpich4.so",
        "libthinwire_mpi_mpich5.so",
    ),
    "abi": ("libthinwire_mpi_abi.so",),
}
NCCL_SHIM = "libthinwire_nccl.so"
_CORE = "libthinwire.so.0"

loading = threading.RLock()


def library_folder() -> Path:
    """Where this installation's libraries are, unless `THINWIRE_LIBRARY_DIR` names a folder."""
    return Path(os.environ.get("THINWIRE_LIBRARY_DIR") or PACKAGE / "lib")


def library_path(name: str) -> Path:
    """A library of this installation; FileNotFoundError with what to do about it otherwise."""
    path = library_folder() / name
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist: build it with `make build`, or install a wheel of thinwire"
        )
    return path


def built_shims() -> dict[str, list[Path]]:
    """The preload libraries that this installation has, by key of MPI_SHIMS."""
    found = {
        mpi: [path for name in files if (path := library_folder() / name).exists()]
        for mpi, files in MPI_SHIMS.items()
    }
    return {mpi: paths for mpi, paths in found.items() if paths}


def transport_library(mpi: str) -> Path:
    """A library with the transport of an MPI, for who loads it beside the MPI and preloads
    nothing; FileNotFoundError as library_path()."""
    built = built_shims().get(mpi)
    return built[0] if built else library_path(MPI_SHIMS[mpi][0])


def _header_path() -> Path:
    """The header that belongs to the library: installed beside it, else beside this package."""
    beside = library_folder().parent / "include"
    for folder in (beside, PACKAGE / "include"):
        if (folder / "thinwire" / "thinwire.h").exists():
            return folder / "thinwire" / "thinwire.h"
    raise FileNotFoundError(f"{beside}/thinwire/thinwire.h does not exist: run `make build`")


def _declarations() -> str | None:
    """None where there is no header: library() says what to do about it."""
    try:
        return of_header(_header_path().read_text())
    except FileNotFoundError:
        return None


ffi, _mark = ffi_of(_declarations())


def _name_nvcomp() -> None:
    """Say where pip has put nvCOMP: the library knows nothing of Python's folders."""
    for folder in sys.path:
        path = Path(folder, "nvidia", "libnvcomp", "lib64", "libnvcomp.so.6")
        if path.exists():
            os.environ.setdefault("THINWIRE_NVCOMP", str(path))
            return


@cache
def library() -> Any:
    """The core library's functions, as cffi sees them. Any thread may be the first to call; later
    calls take no lock."""
    with loading:
        return _loaded()


@cache
def _loaded() -> Any:
    _name_nvcomp()
    if mark_of(of_header(_header_path().read_text())) != _mark:
        raise RuntimeError("THINWIRE_LIBRARY_DIR names another thinwire.h than at the import")
    lib = ffi.dlopen(str(library_path(_CORE)))
    # Faults are told here, and come back as an error if a lossy codec is asked for.
    lib.tw_settings_judge()
    return lib


def check(status: int) -> None:
    """Raise what a status code means."""
    if status == 0:
        return
    lib = library()
    words = [text(lib.tw_status_text(status)), text(lib.tw_last_error())]
    raise ThinwireError(status, ": ".join(filter(None, words)))


def new_struct(kind: str) -> Any:
    """A zeroed struct whose `size` is set, as the C API asks."""
    struct = ffi_new(f"{kind} *")
    struct.size = ffi.sizeof(kind)
    return struct


@contextmanager
def _room_for(name: str, value: Any) -> Iterator[None]:
    """ValueError for a number that C has no room for, naming the argument or field."""
    try:
        yield
    except OverflowError:
        raise ValueError(f"{name}: {value} is out of range") from None


def set_numbers(struct: Any, **numbers: int) -> None:
    """Sets fields of a struct, if C has room for the numbers."""
    for name, number in numbers.items():
        with _room_for(name, number):
            setattr(struct, name, number)


def as_c(kind: str, name: str, number: int) -> int:
    """Returns an argument of a call as C takes it, as of "uint64_t", if it has room."""
    with _room_for(name, number):
        return int(ffi.new(f"{kind} *", number)[0])


def new_list(kind: str, name: str, numbers: Sequence[int]) -> Any:
    """Returns an array in C, as of "int32_t", if it has room for the numbers."""
    with _room_for(name, list(numbers)):
        return ffi.new(f"{kind}[]", list(numbers))


def text(pointer: Any) -> str:
    """What C says; bytes of others' that are no text, as of a file's name, are written as \\xff."""
    return ffi.string(pointer).decode(errors="backslashreplace")


def version() -> str:
    """The library's version, as in "0.1.0"."""
    return text(library().tw_version())


def format_version() -> int:
    """The version of the frame format that this library reads and writes."""
    return library().tw_format_version()


def c_text(value: str) -> bytes:
    """A text as C takes it, a file's name as the system has it; ValueError for one with a NUL, at
    which C would end it."""
    if "\0" in value:
        raise ValueError(f"{value!r} holds a NUL")
    return os.fsencode(value)


def parse_size(size: str) -> int:
    """Bytes of a text such as "64KiB"; ThinwireError if it is none."""
    out = ffi_new("uint64_t *")
    check(library().tw_size_parse(c_text(size), out))
    return out[0]


def parse_link_rate(rate: str) -> float:
    """Bytes per second of a text such as "1gbit"; ThinwireError if it is none."""
    out = ffi_new("double *")
    check(library().tw_link_rate_parse(c_text(rate), out))
    return out[0]


def ffi_new(kind: str) -> Any:
    """`ffi.new` after the declarations are known."""
    library()
    return ffi.new(kind)
