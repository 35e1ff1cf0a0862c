"""An array as a file has it, before it is read; and how readers refuse."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Protocol

import numpy as np

# Deflate makes 1032 bytes of one at most. A declared array is compared with that before memory is
# taken for it; one of a few bytes harms nobody.
MOST_EXPANSION = 1032
HARMLESS = 64 << 20
MOST_AXES = 64


class Refused(ValueError):
    """What is wrong with a file, in words for its user."""


@dataclass(frozen=True)
class Stored:
    """`kind` is its type in the file; None if numpy has none such. `read` returns the array in its
    shape."""

    kind: np.dtype | None
    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]

    @property
    def shape_text(self) -> str:
        return "x".join(str(extent) for extent in self.shape)


class Arrays(Protocol):
    """The arrays of an open file by their names, as its user writes them."""

    def names(self) -> list[str]: ...

    def get(self, name: str) -> Stored:
        """KeyError if there is none."""
        ...


def bytes_of(shape: tuple[int, ...], kind: np.dtype) -> int:
    """Bytes of an array of that shape; Refused for what is no shape."""
    if len(shape) > MOST_AXES or not all(type(each) is int and each >= 0 for each in shape):
        raise Refused("it is damaged: its shape is none")
    return math.prod(shape) * kind.itemsize


def check_room(nbytes: int, most: int) -> None:
    """Refused if a file that holds `most` bytes at the utmost declares an array of `nbytes`."""
    if nbytes > most:
        raise Refused(
            f"cut off or damaged: it declares {nbytes} bytes of values, and has {most} at most"
        )


def expanded(size: int) -> int:
    """Bytes that `size` compressed ones may become."""
    return max(HARMLESS, MOST_EXPANSION * size)


def take(file: IO[bytes], nbytes: int) -> np.ndarray:
    """The next bytes of a file; Refused if there are fewer."""
    data = np.empty(nbytes, np.uint8)
    view, done = data.data, 0
    while done < nbytes:
        piece = file.read(min(nbytes - done, 1 << 24))
        if not piece:
            raise Refused(f"it is cut off: {nbytes - done} bytes of values are missing")
        view[done : done + len(piece)] = piece
        done += len(piece)
    return data


def one_line(text: str) -> str:
    """The first line, of characters that a terminal prints, and not too long."""
    line = next((each for each in text.splitlines() if each.strip()), "")
    line = "".join(char if char.isprintable() else "?" for char in line.strip())
    return line if len(line) <= 200 else line[:199] + "…"
