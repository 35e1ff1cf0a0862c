"""One array's way into a frame and back in GPU memory, call by call."""

import numpy as np

from thinwire.bench.buffers import shape_struct
from thinwire.codec import Codec
from thinwire.gpu import GpuMemory, copy_bytes
from thinwire.library import check, ffi, ffi_new, library

_GPU = 0  # of those this process sees


class GpuFrameBuffers:
    """As FrameBuffers, with everything on the first GPU: `encode` and `decode` are one blocking
    call each, from an idle GPU until the host knows the outcome. `frame` and `decoded` copy."""

    def __init__(self, codec: Codec, array: np.ndarray, dtype: str) -> None:
        """Raises ThinwireError where the codec does not take `dtype` or the rank, or the GPU
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
