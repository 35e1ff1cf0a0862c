"""Notes of shapes: what stands after a frame whose header cannot say its array's shape
(spec/frame.md)."""

import math
import struct
import zlib

from thinwire.library import ThinwireError, library

MARK = b"tw shape"
MOST_AXES = 64  # as many as numpy's arrays have
_HEAD = struct.Struct("<8sII")  # mark, axes, checksum
MOST_BYTES = _HEAD.size + 8 * MOST_AXES


def note_of(shape: tuple[int, ...]) -> bytes:
    """The note of an array's shape."""
    extents = struct.pack(f"<{len(shape)}Q", *shape)
    return _HEAD.pack(MARK, len(shape), zlib.crc32(extents)) + extents


def _begins_as_note(rest: bytes) -> bool:
    """Also one that is cut within its mark, or has one byte of it changed."""
    mark = rest[: len(MARK)]
    changed = sum(one != other for one, other in zip(mark, MARK, strict=False))
    return bool(mark) and changed <= (1 if len(mark) == len(MARK) else 0)


def shape_in(rest: bytes, count: int) -> tuple[int, ...] | None:
    """The shape that `rest` says, which stands after the frame of an array of `count` elements;
    None if no note begins it. ThinwireError if it is damaged or of another array."""
    if not _begins_as_note(rest):
        return None
    if rest.startswith(MARK) and len(rest) >= _HEAD.size:
        _, axes, checksum = _HEAD.unpack_from(rest)
        extents = rest[_HEAD.size : _HEAD.size + 8 * min(axes, MOST_AXES)]
        if len(extents) == 8 * axes and zlib.crc32(extents) == checksum:
            shape = struct.unpack(f"<{axes}Q", extents)
            if math.prod(shape) == count:
                return shape
    why = "damaged: the note after the frame, of its array's shape, is not sound"
    raise ThinwireError(library().TW_DAMAGED, why)
