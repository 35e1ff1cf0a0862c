"""One array's path into a frame and back, with every buffer allocated once, on host or GPU."""

from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.codec import Codec
from thinwire.gpu import GpuMemory, copy_bytes
from thinwire.library import check, ffi, ffi_new, library

_GPU = 0  # of those this process sees


def shape_struct(extents: tuple[int, ...], dtype: str) -> Any:
    """The tw_shape of an array."""
    shape = ffi_new("tw_shape *")
    shape.dtype, shape.rank = dtypes.CODES[dtype], len(extents)
    shape.extent[0 : len(extents)] = extents
    return shape


class FrameBuffers:
    """An array, room for its frame and room for what the frame decodes to.

    `encode` and `decode` cost one call of the C library each: nothing is allocated or copied, so
    they can be timed. The array is coded in its own shape.
    """

    def __init__(self, codec: Codec, array: np.ndarray, dtype: str) -> None:
        """`array` is contiguous and stays unchanged. Raises ThinwireError if the codec does
        not take `dtype` or the rank."""
        lib = library()
        self._codec = codec
        self._shape = shape_struct(array.shape, dtype)
        self._written = ffi.new("uint64_t *")
        check(lib.tw_message_bound(codec.handle, self._shape, self._written))
        self._room = np.empty(self._written[0], np.uint8)
        self._written[0] = 0
        self.decoded = np.empty(array.nbytes, np.uint8)
        self._source = ffi.from_buffer(array.reshape(-1).view(np.uint8))
        self._frame = ffi.from_buffer(self._room, require_writable=True)
        self._target = ffi.from_buffer(self.decoded, require_writable=True)

    @property
    def frame(self) -> np.ndarray:
        """The frame that `encode` wrote last; a view."""
        return self._room[: self._written[0]]

    def encode(self) -> None:
        """Encode the array into `frame`."""
        lib = library()
        room = len(self._frame)
        none = ffi.NULL
        check(
            lib.tw_message_encode(
                self._codec.handle,
                self._shape,
                self._source,
                self._frame,
                room,
                none,
                self._written,
            )
        )

    def decode(self) -> None:
        """Decode `frame` into `decoded`."""
        length, room = self._written[0], len(self._target)
        check(
            library().tw_message_decode(self._frame, length, self._target, room, ffi.NULL, ffi.NULL)
        )

    def decode_afresh(self) -> np.ndarray:
        """Decode over bytes that no frame left behind; returns a copy. Not for timing."""
        self.decoded.fill(0xFF)
        self.decode()
        return self.decoded.copy()


class GpuFrameBuffers:
    """As FrameBuffers, with everything on the first GPU: `encode` and `decode` are one blocking
    call each, from an idle GPU until the host knows the outcome. `frame` and `decoded` copy."""

    def __init__(self, codec: Codec, array: np.ndarray, dtype: str) -> None:
        """Raises ThinwireError if the codec does not take `dtype` or the rank, or the GPU
        fails."""
        self._codec = codec
        self._shape = shape_struct(array.shape, dtype)
        self._nbytes = array.nbytes
        self._written = ffi_new("uint64_t *")
        check(library().tw_message_bound(codec.handle, self._shape, self._written))
        self._room = self._written[0]
        self._memory = [GpuMemory(size, _GPU) for size in (array.nbytes, self._room, array.nbytes)]
        self._source, self._frame, self._target = (
            ffi.cast("void *", memory.pointer) for memory in self._memory
        )
        copy_bytes(self._memory[0].pointer, array.ctypes.data, array.nbytes)

    @property
    def frame(self) -> np.ndarray:
        return self._memory[1].copy_to_host(self._written[0])

    @property
    def decoded(self) -> np.ndarray:
        return self._memory[2].copy_to_host(self._nbytes)

    def encode(self) -> None:
        """Encode the array into a frame."""
        check(
            library().tw_message_encode(
                self._codec.handle,
                self._shape,
                self._source,
                self._frame,
                self._room,
                ffi.NULL,
                self._written,
            )
        )

    def decode(self) -> None:
        """Decode the frame that was encoded last."""
        length, room = self._written[0], self._nbytes
        check(
            library().tw_message_decode(self._frame, length, self._target, room, ffi.NULL, ffi.NULL)
        )

    def decode_afresh(self) -> np.ndarray:
        """Decode over bytes that no frame left behind. Not for timing."""
        poison = np.full(self._nbytes, 0xFF, np.uint8)
        copy_bytes(self._memory[2].pointer, poison.ctypes.data, self._nbytes)
        self.decode()
        return self.decoded
