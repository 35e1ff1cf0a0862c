"""Files of one array of numpy's: .npy."""

import ast
import struct
from io import BytesIO
from typing import IO, NamedTuple

import numpy as np
from numpy.lib import format as numpy_format

from thinwire.array_files.place import Opened
from thinwire.array_files.stored import Refused, Stored, bytes_of, check_room, take

_MOST_HEADER = 10_000  # bytes, as numpy has it
_LENGTHS = {1: "<H", 2: "<I", 3: "<I"}  # by version


class Header(NamedTuple):
    kind: np.dtype
    shape: tuple[int, ...]
    in_fortran_order: bool
    nbytes: int  # of the values, which follow


def read_header(file: IO[bytes]) -> Header:
    """The header at the place where the file is. Refused if it is none."""
    magic = take(file, 8).tobytes()
    length_format = _LENGTHS.get(magic[6])
    if not magic.startswith(b"\x93NUMPY") or length_format is None:
        raise Refused("it is damaged: it does not begin as a .npy file of a known version")
    (length,) = struct.unpack(length_format, take(file, struct.calcsize(length_format)).tobytes())
    if length > _MOST_HEADER:
        raise Refused(f"its header has {length} bytes, more than {_MOST_HEADER}")
    text = take(file, length).tobytes().decode("utf-8" if magic[6] == 3 else "latin1")
    try:
        said = ast.literal_eval(text.strip())
        kind = numpy_format.descr_to_dtype(said["descr"])
        shape, order = said["shape"], said["fortran_order"]
    except (Exception, RecursionError, MemoryError):
        raise Refused("it is damaged: its header is none of numpy's") from None
    if not isinstance(shape, tuple) or not isinstance(order, bool):
        raise Refused("it is damaged: its header is none of numpy's")
    return Header(kind, shape, order, bytes_of(shape, kind))


def read_values(file: IO[bytes], header: Header) -> np.ndarray:
    """The values after a header, up to the file's end."""
    data = take(file, header.nbytes)
    if file.read(1):
        raise Refused("more follows its array: save each to a file of its own, or to a .npz file")
    if header.in_fortran_order:
        return data.view(header.kind).reshape(header.shape[::-1]).T
    return data.view(header.kind).reshape(header.shape)


def header_of(array: np.ndarray) -> bytes:
    """What a .npy file has before the values of an array in C order."""
    written = BytesIO()
    numpy_format.write_array_header_1_0(
        written, {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    )
    return written.getvalue()


class Npy:
    """The one array, whose name is not asked for."""

    def __init__(self, opened: Opened) -> None:
        self._file, self._size = opened.file, opened.size

    def names(self) -> list[str]:
        return [""]

    def get(self, name: str) -> Stored:
        if name:
            raise KeyError(name)
        self._file.seek(0)
        header = read_header(self._file)
        begin = self._file.tell()
        check_room(header.nbytes, self._size - begin)

        def values() -> np.ndarray:
            self._file.seek(begin)
            return read_values(self._file, header)

        return Stored(header.kind, header.shape, values)
