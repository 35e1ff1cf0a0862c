"""Arrays to frames and back, in host or GPU memory."""

import math
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.arrays import DEFAULT_STREAM, ArrayView, stream_number, view_of
from thinwire.codec import Codec
from thinwire.gpu import Frame, GpuArray, GpuMemory, copy_bytes
from thinwire.headers import MessageInfo, axes_of, inspect_at, note_of
from thinwire.library import ThinwireError, check, ffi, ffi_new, library, new_struct
from thinwire.masked import filled_for

MAX_RANK = 4


def compress(
    array: Any,
    codec: Codec | str,
    *,
    dtype: str | None = None,
    shape: tuple[int, ...] | None = None,
    stream: Any = None,
) -> bytes | Frame:
    """Encode an array into one frame: `bytes` of a host array, a `Frame` on its GPU of a GPU array.

    Arrays are numpy's, any buffer, and anything with `__dlpack__` or `__cuda_array_interface__`
    (torch, cupy, ...). Host arrays that are not contiguous are copied; GPU arrays that are not
    are a ValueError. The bytes of a frame do not depend on where the array lies.

    `dtype` names the element type where the array cannot ("bf16" in 16-bit words, "e4m3" and
    "e5m2" in bytes). `shape` is the shape to code it in: given here, else by the spec ("shape="),
    else the array's own, in which it comes back whatever shape that is. Where the codec takes fewer
    axes, it sees the slowest ones as one; where it cannot cut that shape, it sees one line. Data
    that the codec declines, or that would not shrink, becomes a raw frame.

    What a numpy masked array misses has its fill value in the frame, and comes back as that. A
    lossy codec is told it as by `fill=`, so that it bounds the others; a spec's own `fill=`, a
    number or nan, is taken in its place.

    `stream` orders the work on a GPU: a cudaStream_t as a number, or torch's or cupy's stream. By
    default the array's own, else the legacy default stream. Blocks until the frame is complete.
    Raises ThinwireError.
    """
    codec = Codec(codec) if isinstance(codec, str) else codec
    number = stream_number(stream)
    if isinstance(array, np.ma.MaskedArray):
        array, codec = filled_for(array, codec)
    view = view_of(array, number)
    coded, own = _shape_to_code(view, codec, dtype or view.dtype, shape)
    options = _options(number, view)
    extents, most = _bound(codec, coded)
    note = b"" if own == axes_of(extents) else note_of(own)
    if view.gpu is not None:
        return _compress_on_gpu(view, codec, extents, most, note, options)
    frame = np.empty(most, np.uint8)
    written = _encode(view, codec, extents, frame.ctypes.data, most, options)
    return frame[:written].tobytes() + note


def inspect(frame: Any, *, stream: Any = None) -> MessageInfo:
    """Read the header of a frame in host or GPU memory. Raises ThinwireError for anything that is
    no sound frame."""
    if isinstance(frame, Frame):
        return frame.info
    number = stream_number(stream)
    view = view_of(frame, number)
    return _inspect(view, _options(number, view))


def decompress(
    frame: Any, *, out: Any = None, add: bool = False, scale: float = 1.0, stream: Any = None
) -> Any:
    """Decode a frame into a new array of its own dtype and shape (bf16: 16-bit words, 8-bit
    floats: bytes): a numpy array from host memory, a `GpuArray` on the same GPU from GPU memory.

    `out`, an array on either side, is written instead and returned: contiguous, writable, of the
    frame's size (ValueError) and dtype or bytes (TypeError). With `add` it becomes
    (out + decoded) * scale, in one pass, rounded to its dtype; scale must not be 0 (ValueError).
    `stream` as for `compress`; by default that of `out`, else that of the frame. Blocks until the
    array is complete. Raises ThinwireError; what `out` then holds is undefined.
    """
    number = stream_number(stream)
    source = view_of(frame, number)
    target = None if out is None else view_of(out, number)
    options = _options(number, source, *([] if target is None else [target]))
    info = frame.info if isinstance(frame, Frame) else _inspect(source, options)
    if add and target is None:
        raise ValueError("add needs out, the array that is added to")
    if target is not None:
        _check_target(target, info)
        if add:
            options = _adding(options, scale)
        _decode(source, target.pointer, info, options)
        return out
    if source.gpu is None:
        array = _room_for(info)
        _decode(source, array.ctypes.data, info, options)
        return array
    memory = GpuMemory(info.raw_bytes, source.gpu)
    _decode(source, memory.pointer, info, options)
    return GpuArray(memory, info.shape, info.dtype)


def _room_for(info: MessageInfo) -> np.ndarray:
    """An array for what a frame claims to hold, which need not be true."""
    try:
        return np.empty(info.shape, dtypes.NUMPY[info.dtype])
    except (MemoryError, ValueError):  # numpy has no array of so many bytes or axes
        why = f"there is no memory for the {info.raw_bytes} bytes that the frame claims to hold"
        raise ThinwireError(library().TW_INTERNAL, why) from None


def _shape_to_code(
    view: ArrayView, codec: Codec, dtype: str, given: tuple[int, ...] | None
) -> tuple[tuple[str, tuple[int, ...]], tuple[int, ...]]:
    """dtype and shape that the array is coded in, and the shape in which it comes back; ValueError
    if they do not fit it."""
    if dtype not in dtypes.CODES:
        raise ValueError(f"no dtype {dtype!r}: {', '.join(dtypes.CODES)}")
    itemsize = dtypes.NUMPY[dtype].itemsize
    own = view.shape
    if view.itemsize != itemsize:
        if view.nbytes % itemsize:
            raise ValueError(f"{view.nbytes} bytes are no whole number of {dtype} values")
        own = (view.nbytes // itemsize,)
    count = view.nbytes // itemsize
    if given is not None:
        fits = 1 <= len(given) <= MAX_RANK and all(extent >= 0 for extent in given)
        if not fits or int(np.prod(given, dtype=object)) != count:
            raise ValueError(f"shape {given} is not one of {count} elements, rank 1 to {MAX_RANK}")
        return (dtype, tuple(given)), tuple(given)
    if "shape=" in codec.spec:
        shape = ffi_new("tw_shape *")
        check(library().tw_codec_shape(codec.handle, dtypes.CODES[dtype], count, shape))
        return (dtype, axes_of(shape)), axes_of(shape)
    if not own or not count:
        return (dtype, (count,)), own
    slowest = len(own) - MAX_RANK + 1  # that count as one, if there are too many
    return (dtype, (math.prod(own[:slowest]), *own[slowest:]) if slowest > 1 else own), own


def _bound(codec: Codec, coded: tuple[str, tuple[int, ...]]) -> tuple[Any, int]:
    """The shape as the library takes it, as one line if the codec cannot cut it, and
    the most bytes that a frame can take."""
    dtype, extents = coded
    lib = library()
    most = ffi_new("uint64_t *")
    shape = _shape_struct(dtype, extents)
    status = lib.tw_message_bound(codec.handle, shape, most)
    if status == lib.TW_UNSUPPORTED and len(extents) > 1:
        shape = _shape_struct(dtype, (int(np.prod(extents, dtype=object)),))
        status = lib.tw_message_bound(codec.handle, shape, most)
    check(status)
    return shape, most[0]


def _shape_struct(dtype: str, extents: tuple[int, ...]) -> Any:
    shape = ffi_new("tw_shape *")
    shape.dtype, shape.rank = dtypes.CODES[dtype], len(extents)
    shape.extent[0 : len(extents)] = extents
    return shape


def _options(stream: int | None, *views: ArrayView) -> Any:
    """Options for work on `stream`, else on the last stream that a view names, else on the default
    one; none for work in host memory."""
    on_gpu = [view for view in views if view.gpu is not None]
    if not on_gpu:
        return ffi.NULL
    named = [view.stream for view in on_gpu if view.stream is not None]
    number = stream if stream is not None else (named or [DEFAULT_STREAM])[-1]
    options = new_struct("tw_message_options")
    options.stream = ffi.cast("void *", number)
    return options


def _adding(options: Any, scale: float) -> Any:
    """The same options for a decode that adds."""
    if scale == 0:
        raise ValueError("scale is 0, which the C interface takes for 1")
    if options == ffi.NULL:
        options = new_struct("tw_message_options")
    options.flags |= library().TW_MESSAGE_ADD
    options.scale = scale
    return options


def _compress_on_gpu(
    view: ArrayView, codec: Codec, shape: Any, most: int, note: bytes, options: Any
) -> Frame:
    memory = GpuMemory(most + len(note), view.gpu or 0)
    written = _encode(view, codec, shape, memory.pointer, most, options)
    if note:
        copy_bytes(memory.pointer + written, np.frombuffer(note, np.uint8).ctypes.data, len(note))
        written += len(note)
    if written <= most // 2:
        # The pool would go on lending the room that the frame might have needed.
        kept = GpuMemory(written, memory.gpu)
        copy_bytes(kept.pointer, memory.pointer, written)
        memory = kept
    return Frame(memory, written, inspect_at(memory.pointer, written, options))


def _encode(
    view: ArrayView, codec: Codec, shape: Any, target: int, capacity: int, options: Any
) -> int:
    written = ffi_new("uint64_t *")
    source, to = ffi.cast("void *", view.pointer), ffi.cast("void *", target)
    check(library().tw_message_encode(codec.handle, shape, source, to, capacity, options, written))
    return written[0]


def _inspect(view: ArrayView, options: Any) -> MessageInfo:
    return inspect_at(view.pointer, view.nbytes, options)


def _check_target(target: ArrayView, info: MessageInfo) -> None:
    if target.read_only:
        raise ValueError("out cannot be written to, or is not contiguous in C order")
    if target.nbytes != info.raw_bytes:
        raise ValueError(f"out has {target.nbytes} bytes, the frame's array {info.raw_bytes}")
    is_bytes = target.dtype == "bytes" and target.itemsize == 1
    if info.dtype != "bytes" and target.dtype != info.dtype and not is_bytes:
        kind = f"{target.itemsize}-byte" if target.dtype == "bytes" else target.dtype
        raise TypeError(f"out has {kind} elements, the frame {info.dtype}")


def _decode(source: ArrayView, target: int, info: MessageInfo, options: Any) -> None:
    of, to = ffi.cast("void *", source.pointer), ffi.cast("void *", target)
    check(library().tw_message_decode(of, source.nbytes, to, info.raw_bytes, options, ffi.NULL))
