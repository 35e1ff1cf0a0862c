"""Arrays of floats in files as people have them: raw values, .npy, .npz, HDF5 and netCDF, and the
same from pipes. Whatever a file holds, its readers raise ValueError in one line, or OSError."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thinwire import dtypes
from thinwire.array_files import elements, kinds, raw
from thinwire.array_files.place import Opened, Place
from thinwire.array_files.stored import Arrays, Refused, Stored, one_line

_MOST_LISTED = 20


class Values(NamedTuple):
    """An array in the shape that its file says (raw values: one line); bf16 and 8-bit floats are
    words of so many bits. The name has no folder."""

    name: str
    dtype: str
    array: np.ndarray
    has_shape: bool


def read(path: Path, dtype: str | None = None) -> Values:
    """The array at "file", or "file:name" of a file of several; "-" is standard input. Its type is
    the file's; `dtype` is that of raw values, without which their suffix is, and must not
    contradict another file. As "bytes" any file is taken, header and all."""
    place = Place.of(path)
    with place.open() as opened:
        if dtype == "bytes" and place.array is None:
            return Values(place.name, dtype, raw.read(opened, dtype), has_shape=False)
        with _in_words(place):
            arrays = kinds.arrays_of(opened)
        if arrays is None:
            name = raw.dtype_of(place, dtype)
            return Values(place.name, name, raw.read(opened, name), has_shape=False)
        with _in_words(place):
            found = _choose(arrays, place)
            name = elements.name_of(found.kind, dtype)
            return Values(place.name, name, elements.little(found.read()), has_shape=True)


def line(path: Path, dtype: str) -> np.ndarray:
    """The values as one line. Those of a raw file are not read, but mapped, up to the last whole
    one."""
    place = Place.of(path)
    if not place.path.is_file() or not has_raw_values(path):
        return read(path, dtype).array.reshape(-1)
    kind = dtypes.NUMPY[dtype]
    count = place.path.stat().st_size // kind.itemsize
    return np.memmap(place.path, kind, "r", shape=(count,)) if count else np.empty(0, kind)


def has_raw_values(path: Path) -> bool:
    """Whether a file has no header. ValueError if it is of a kind that is not read."""
    place = Place.of(path)
    with place.open() as opened, _in_words(place):
        return kinds.arrays_of(opened) is None and place.array is None


def contents(opened: Opened) -> list[str] | None:
    """The arrays of a file with their types and shapes; None for one of another kind."""
    with _in_words(opened.place):
        arrays = kinds.arrays_of(opened)
        return None if arrays is None else _listed(arrays, None)


def _choose(arrays: Arrays, place: Place) -> Stored:
    """The array that the place names, or the only one that there is."""
    if place.array is None:
        names = arrays.names()
        if len(names) == 1:
            return arrays.get(names[0])
        if not names:
            raise Refused("there is no array in it")
        example = f"{place.file_name}:{one_line(names[0])}"
        raise Refused(f"name one of its arrays ({example}): {_some(arrays)}")
    try:
        return arrays.get(place.array)
    except KeyError:
        raise Refused(f"it has no array of that name, but {_some(arrays)}") from None


def _some(arrays: Arrays) -> str:
    return "; ".join(_listed(arrays, _MOST_LISTED)) or "none at all"


def _listed(arrays: Arrays, most: int | None) -> list[str]:
    names = arrays.names()
    listed = [_described(arrays, name) for name in names[:most]]
    left = len(names) - len(listed)
    return [*listed, *([f"and {left} more"] if left else [])]


def _described(arrays: Arrays, name: str) -> str:
    """Also of an array that cannot be read: the others still can."""
    try:
        found = arrays.get(name)
        says = f"{elements.described(found.kind)} {found.shape_text}"
    except MemoryError:
        raise
    except Exception as error:
        says = f"({one_line(str(error)) or type(error).__name__})"
    return f"{one_line(name)} {says}".strip()


@contextmanager
def _in_words(place: Place) -> Iterator[None]:
    """ValueError for whatever a reader raises: the errors of numpy, zipfile and h5py for damaged
    files are many. Want of memory is no fault of the file."""
    try:
        yield
    except MemoryError:
        raise
    except Refused as error:
        raise ValueError(f"{place.name}: {error}") from error
    except Exception as error:
        why = one_line(str(error)) or type(error).__name__
        raise ValueError(f"{place.name}: it cannot be read: {why}") from error


__all__ = ["Opened", "Place", "Values", "contents", "has_raw_values", "line", "read"]
