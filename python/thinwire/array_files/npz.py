"""Archives of arrays of numpy's: .npz."""

import zipfile
from typing import IO

import numpy as np

from thinwire.array_files.npy import read_header, read_values
from thinwire.array_files.place import Opened
from thinwire.array_files.stored import Refused, Stored, check_room, expanded

_SUFFIX = ".npy"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those that numpy writes


class Npz:
    """The arrays by the names that they were saved under."""

    def __init__(self, opened: Opened) -> None:
        self._size = opened.size
        self._archive = zipfile.ZipFile(opened.file)
        members = [each for each in self._archive.infolist() if each.filename.endswith(_SUFFIX)]
        self._members = {each.filename.removesuffix(_SUFFIX): each for each in members}
        if len(self._members) < len(members):
            raise Refused("it has two arrays of one name")
        if not members:
            raise Refused("a zip file, without arrays of numpy")

    def names(self) -> list[str]:
        return [*self._members]

    def get(self, name: str) -> Stored:
        member = self._members[name.removesuffix(_SUFFIX) if name not in self._members else name]
        with self._open(member) as file:
            header = read_header(file)
            begin = file.tell()
        packed = min(member.compress_size, self._size)
        is_packed = member.compress_type != zipfile.ZIP_STORED
        most = min(member.file_size, expanded(packed) if is_packed else packed)
        check_room(header.nbytes, most - begin)

        def values() -> np.ndarray:
            with self._open(member) as file:
                return read_values(file, read_header(file))

        return Stored(header.kind, header.shape, values)

    def _open(self, member: zipfile.ZipInfo) -> IO[bytes]:
        if member.compress_type not in _METHODS:
            raise Refused(f"it is packed by method {member.compress_type}, which numpy has not")
        return self._archive.open(member)
