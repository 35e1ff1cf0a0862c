"""Datasets of HDF5 files, as which netCDF-4 files have their variables; by h5py."""

import math
from contextlib import suppress
from typing import Any

import numpy as np

from thinwire.array_files.place import Opened
from thinwire.array_files.stored import Refused, Stored, bytes_of, check_room, expanded

_MOST_NAMES = 10_000
_FIRST_FOREIGN_FILTER = 256
_DIMENSION = b"This is a netCDF dimension but not a netCDF variable"


class Hdf5:
    """The datasets by their paths; links of other names are followed within the file."""

    def __init__(self, opened: Opened) -> None:
        try:
            import h5py
        except ImportError as error:
            raise Refused(
                f"h5py reads HDF5 and netCDF-4 files: pip install h5py ({error})"
            ) from error
        self._h5py, self._size = h5py, opened.size
        self._file = h5py.File(opened.file if opened.path is None else str(opened.path), "r")

    def names(self) -> list[str]:
        found: list[str] = []

        def look(name: str, item: Any) -> bool | None:
            if isinstance(item, self._h5py.Dataset) and not self._is_dimension(item):
                found.append(f"/{name}")
            return True if len(found) == _MOST_NAMES else None

        self._file.visititems(look)
        return found

    def _is_dimension(self, item: Any) -> bool:
        """An axis of netCDF-4 that has no values."""
        said = item.attrs.get("NAME", b"") if "NAME" in item.attrs else b""
        return isinstance(said, bytes) and said.startswith(_DIMENSION)

    def get(self, name: str) -> Stored:
        item = self._find(name)
        if item.shape is None:
            raise Refused("it holds no values")
        kind = self._kind_of(item)
        return Stored(kind, item.shape, lambda: self._read(item, kind))

    def _find(self, name: str) -> Any:
        item: Any = self._file
        for part in (part for part in name.split("/") if part):
            link = item.get(part, getlink=True) if isinstance(item, self._h5py.Group) else None
            if link is None:
                raise KeyError(name)
            if isinstance(link, self._h5py.ExternalLink):
                raise Refused("it is a link to another file: name that one")
            item = item[part]
        if not isinstance(item, self._h5py.Dataset):
            raise KeyError(name)
        info = self._h5py.h5o.get_info
        if info(item.id).fileno != info(self._file.id).fileno:
            raise Refused("it is a link to another file: name that one")
        return item

    def _kind_of(self, item: Any) -> np.dtype | None:
        """The type of the elements, as stored; None if numpy has none."""
        try:
            kind = item.dtype
        except TypeError:
            return None
        is_same = kind.hasobject or item.id.get_type().get_size() == kind.itemsize
        return kind if is_same else None

    def _read(self, item: Any, kind: np.dtype | None) -> np.ndarray:
        if kind is None or kind.hasobject:
            raise Refused("codecs take floats")
        plan = item.id.get_create_plist()
        if plan.get_external_count() or plan.get_layout() == self._h5py.h5d.VIRTUAL:
            raise Refused("its values are in other files: copy it into one")
        filters = [plan.get_filter(each)[0] for each in range(plan.get_nfilters())]
        nbytes = bytes_of(item.shape, kind)
        if item.chunks is None:
            check_room(nbytes, self._size)
        else:
            check_room(max(nbytes, math.prod(item.chunks) * kind.itemsize), expanded(self._size))
        if any(each >= _FIRST_FOREIGN_FILTER for each in filters):
            # Each makes filters known when it is imported; HDF5 itself says which is missing.
            with suppress(ImportError):
                import hdf5plugin  # noqa: F401
            with suppress(FileNotFoundError):
                import thinwire.hdf5  # noqa: F401
        return np.asarray(item[()])
