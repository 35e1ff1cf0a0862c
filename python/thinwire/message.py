"""One array in one frame, memory to memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.codec import Codec
from thinwire.library import check, ffi, ffi_new, library, new_struct

Buffer = bytes | bytearray | memoryview


@dataclass(frozen=True)
class MessageInfo:
    """What a frame's header says."""

    spec: str
    codec_id: int
    dtype: str
    shape: tuple[int, ...]
    raw_bytes: int
    frame_bytes: int


def encode(array: np.ndarray, codec: Codec | str, *, dtype: str | None = None) -> bytes:
    """Encode an array into one frame.

    `dtype` names the element type where numpy cannot ("bf16" in 16-bit words). Arrays of a rank
    that the codec does not take, or with axes out of C order, are coded as one line; data that
    the codec declines, or that would not shrink, becomes a raw frame. Raises ThinwireError.
    """
    codec = Codec(codec) if isinstance(codec, str) else codec
    data = np.ascontiguousarray(array)
    shape = _shape(data, dtype or dtypes.name_of(data))
    lib = library()
    most = ffi_new("uint64_t *")
    status = lib.tw_message_bound(codec.handle, shape, most)
    if status == lib.TW_UNSUPPORTED and shape.rank > 1:
        shape = _shape(data.reshape(-1), dtype or dtypes.name_of(data))
        status = lib.tw_message_bound(codec.handle, shape, most)
    check(status)
    frame = bytearray(most[0])
    written = ffi.new("uint64_t *")
    source = ffi.from_buffer(data.reshape(-1).view(np.uint8))
    check(
        lib.tw_message_encode(
            codec.handle, shape, source, ffi.from_buffer(frame), len(frame), ffi.NULL, written
        )
    )
    return bytes(memoryview(frame)[: written[0]])


def inspect(frame: Buffer) -> MessageInfo:
    """Read a frame's header. Raises ThinwireError for anything that is no sound frame."""
    info = new_struct("tw_message_info")
    source = ffi.from_buffer(frame)
    check(library().tw_message_inspect(source, len(source), ffi.NULL, info))
    return MessageInfo(
        spec=ffi.string(info.spec).decode(),
        codec_id=info.codec_id,
        dtype=dtypes.NAMES[info.shape.dtype],
        shape=tuple(info.shape.extent[axis] for axis in range(info.shape.rank)),
        raw_bytes=info.raw_bytes,
        frame_bytes=info.frame_bytes,
    )


def decode(frame: Buffer) -> np.ndarray:
    """Decode a frame into a new array of its own dtype and shape (bf16: 16-bit words)."""
    info = inspect(frame)
    array = np.empty(info.shape, dtypes.NUMPY[info.dtype])
    source = ffi.from_buffer(frame)
    target = ffi.from_buffer(array.reshape(-1).view(np.uint8), require_writable=True)
    check(
        library().tw_message_decode(source, len(source), target, array.nbytes, ffi.NULL, ffi.NULL)
    )
    return array


def _shape(data: np.ndarray, dtype: str) -> Any:
    if data.dtype.itemsize != dtypes.NUMPY[dtype].itemsize:
        data = data.reshape(-1).view(np.uint8)
    if data.ndim > 4:
        data = data.reshape(-1)
    shape = ffi_new("tw_shape *")
    shape.dtype = dtypes.CODES[dtype]
    shape.rank = max(1, data.ndim)
    for axis, extent in enumerate(data.shape or (1,)):
        shape.extent[axis] = extent
    return shape
