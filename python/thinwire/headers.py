"""What a frame says of itself: its header, and the note after it of a shape that no header can say
(spec/frame.md)."""

import math
import struct
import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.gpu import copy_bytes
from thinwire.library import ThinwireError, check, ffi, library, new_struct

MARK = b"tw shape"
MOST_AXES = 64  # as many as numpy's arrays have
_HEAD = struct.Struct("<8sII")  # mark, axes, checksum
MOST_BYTES = _HEAD.size + 8 * MOST_AXES


@dataclass(frozen=True)
class MessageInfo:
    """What a frame's header says, and the note after it of a shape that no header can say."""

    spec: str
    codec_id: int
    dtype: str
    shape: tuple[int, ...]
    raw_bytes: int
    frame_bytes: int


def inspect_at(pointer: int, length: int, options: Any) -> MessageInfo:
    """What the frame there says, of `length` bytes with the note; ThinwireError if it is no sound
    frame."""
    said = new_struct("tw_message_info")
    check(library().tw_message_inspect(ffi.cast("void *", pointer), length, options, said))
    info = MessageInfo(
        spec=ffi.string(said.whole_spec).decode(),
        codec_id=said.codec_id,
        dtype=dtypes.NAMES[said.shape.dtype],
        shape=axes_of(said.shape),
        raw_bytes=said.raw_bytes,
        frame_bytes=said.frame_bytes,
    )
    rest = min(length - info.frame_bytes, MOST_BYTES)
    if rest <= 0:
        return info
    noted = np.empty(rest, np.uint8)
    copy_bytes(noted.ctypes.data, pointer + info.frame_bytes, rest)
    shape = shape_in(noted.tobytes(), math.prod(info.shape))
    return info if shape is None else replace(info, shape=shape)


def axes_of(shape: Any) -> tuple[int, ...]:
    """The extents of a tw_shape."""
    return tuple(shape.extent[axis] for axis in range(shape.rank))


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
