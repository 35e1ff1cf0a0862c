"""Variables of classic netCDF files: CDF-1, CDF-2 and CDF-5. Values are as stored: neither scaled
nor are fill values taken out."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thinwire.array_files.place import Opened
from thinwire.array_files.stored import Refused, Stored, bytes_of, check_room, take

_TYPES = dict(
    enumerate(("i1", "S1", ">i2", ">i4", ">f4", ">f8", "u1", ">u2", ">u4", ">i8", ">u8"), start=1)
)
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_MOST_ITEMS = 100_000  # dimensions, variables and attributes


class Variable(NamedTuple):
    kind: np.dtype
    shape: tuple[int, ...]  # of one record, if it has such
    is_record: bool
    begin: int

    @property
    def nbytes(self) -> int:
        return bytes_of(self.shape, self.kind)


@dataclass
class _Header:
    """Reads the numbers and names that a header is made of."""

    opened: Opened
    version: int
    items: int = 0

    def number(self, nbytes: int) -> int:
        return int.from_bytes(take(self.opened.file, nbytes).tobytes(), "big")

    def count(self) -> int:
        """A number that is not negative: of 8 bytes in CDF-5."""
        return self.number(8 if self.version == 5 else 4)

    def skip(self, nbytes: int) -> None:
        """Values are padded to 4 bytes."""
        nbytes += -nbytes % 4
        check_room(nbytes, self.opened.size - self.opened.file.tell())
        self.opened.file.seek(nbytes, 1)

    def name(self) -> str:
        length = self.count()
        check_room(length, self.opened.size - self.opened.file.tell())
        text = take(self.opened.file, length).tobytes().decode(errors="replace")
        self.skip_padding(length)
        return text

    def skip_padding(self, length: int) -> None:
        take(self.opened.file, -length % 4)

    def list_of(self, tag: int) -> range:
        """As many as a list with this tag has; an absent list has none."""
        found, count = self.number(4), self.count()
        if found not in (0, tag) or (found == 0 and count):
            raise Refused("it is damaged: its header is none of netCDF's")
        self.items += count
        if self.items > _MOST_ITEMS:
            raise Refused(f"its header declares more than {_MOST_ITEMS} names")
        return range(count)

    def kind(self) -> np.dtype:
        word = _TYPES.get(self.number(4))
        if word is None:
            raise Refused("it is damaged: its header names a type that is none")
        return np.dtype(word)

    def skip_attributes(self) -> None:
        for _ in self.list_of(_ATTRIBUTES):
            self.name()
            kind = self.kind()
            self.skip(self.count() * kind.itemsize)

    def variable(self, extents: list[int]) -> Variable:
        axes = self.count()
        if axes > len(extents) and axes > 1024:
            raise Refused("it is damaged: a variable has too many axes")
        numbers = [self.count() for _ in range(axes)]
        if any(each >= len(extents) for each in numbers):
            raise Refused("it is damaged: a variable has an axis that is none")
        self.skip_attributes()
        kind = self.kind()
        self.count()  # its size, which follows from its shape
        begin = self.number(4 if self.version == 1 else 8)
        shape = tuple(extents[each] for each in numbers)
        is_record = bool(shape) and shape[0] == 0
        return Variable(kind, shape[1:] if is_record else shape, is_record, begin)


class Netcdf:
    """The variables by their names."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        opened.file.seek(3)
        header = _Header(opened, opened.file.read(1)[0])
        records, is_streamed = header.count(), 2 ** (64 if header.version == 5 else 32) - 1
        extents = []
        for _ in header.list_of(_DIMENSIONS):
            header.name()
            extents.append(header.count())
        header.skip_attributes()
        self._variables: dict[str, Variable] = {}
        for _ in header.list_of(_VARIABLES):
            name = header.name()
            if name in self._variables:
                raise Refused("it is damaged: two variables have one name")
            self._variables[name] = header.variable(extents)
        self._stride = self._bytes_of_record()
        self._records = self._count_records() if records == is_streamed else records

    def _bytes_of_record(self) -> int:
        """All record variables, each padded to 4 bytes; a single one is not."""
        sizes = [each.nbytes for each in self._variables.values() if each.is_record]
        return sizes[0] if len(sizes) == 1 else sum(each + -each % 4 for each in sizes)

    def _count_records(self) -> int:
        """As many as the file has, for a writer that did not know."""
        begins = [each.begin for each in self._variables.values() if each.is_record]
        return max(0, self._opened.size - min(begins)) // self._stride if self._stride else 0

    def names(self) -> list[str]:
        return [*self._variables]

    def get(self, name: str) -> Stored:
        found = self._variables[name]
        shape = (self._records, *found.shape) if found.is_record else found.shape
        return Stored(found.kind, shape, lambda: self._read(found, shape))

    def _read(self, found: Variable, shape: tuple[int, ...]) -> np.ndarray:
        file = self._opened.file
        if not math.prod(shape):
            return np.empty(shape, found.kind)
        begins = [found.begin]
        if found.is_record:
            last = found.begin + (self._records - 1) * self._stride
            check_room(last + found.nbytes, self._opened.size)
            begins = list(range(found.begin, last + 1, self._stride))
        check_room(found.begin + found.nbytes, self._opened.size)
        data = np.empty((len(begins), found.nbytes), np.uint8)
        for row, begin in zip(data, begins, strict=True):
            file.seek(begin)
            row[:] = take(file, found.nbytes)
        return data.view(found.kind).reshape(shape)
