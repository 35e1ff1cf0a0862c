"""Where an array is: a file or a pipe, and the array's name in it, as in "file.h5:/group/name"."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from thinwire.array_files.stored import one_line

STDIN = Path("-")


@dataclass(frozen=True)
class Opened:
    """A file whose bytes are read from anywhere in it. `path` is None for what came by a pipe and
    now is in memory."""

    place: "Place"
    file: BinaryIO
    size: int
    path: Path | None

    def head(self, count: int) -> bytes:
        """Its first bytes; it is read from the beginning after that."""
        self.file.seek(0)
        found = self.file.read(count)
        self.file.seek(0)
        return found


@dataclass(frozen=True)
class Place:
    path: Path
    array: str | None  # None if none is named

    @staticmethod
    def of(path: Path) -> "Place":
        """A file of that whole name, else of the longest beginning before a colon; OSError if there
        is none."""
        text = str(path)
        if path == STDIN:
            return Place(path, None)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), text)
        at = len(text)
        while at > 0:
            found = Path(text[:at])
            if found.exists() and not found.is_dir():
                return Place(found, text[at + 1 :] or None)
            at = text.rfind(":", 0, at)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)

    @property
    def file_name(self) -> str:
        return one_line(self.path.name)

    @property
    def name(self) -> str:
        """As messages name it: without the folder."""
        return self.file_name if self.array is None else f"{self.file_name}:{one_line(self.array)}"

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """A pipe is read to its end; OSError."""
        if self.path == STDIN:
            with open(0, "rb", closefd=False) as file:  # sys.stdin is None if it is closed
                yield self._in_memory(file.read())
        elif not self.path.is_file():
            yield self._in_memory(self.path.read_bytes())
        else:
            with self.path.open("rb") as file:
                yield Opened(self, file, os.fstat(file.fileno()).st_size, self.path)

    def _in_memory(self, data: bytes) -> Opened:
        return Opened(self, io.BytesIO(data), len(data), None)
