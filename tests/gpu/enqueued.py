"""Everything that one enqueued call needs, in memory that stays: fit for a graph."""

import numpy as np
from cuda_driver import Stream
from gpu_calls import (
    DeviceBuffer,
    Scratch,
    at,
    bound,
    copy,
    decode_on_host,
    options_struct,
    outcome_of,
    shape_struct,
    workspace_bytes,
)

from thinwire.codec import Codec
from thinwire.library import ffi, library


class Enqueued:
    """One array, its frame and the array that comes back, on GPU 0, under one codec."""

    def __init__(self, codec: Codec, dtype: str, values: np.ndarray, stream: Stream) -> None:
        self.codec, self.stream = codec, stream
        self.shape = shape_struct(dtype, values.shape)
        self.source = DeviceBuffer(values)
        self.frame = DeviceBuffer(bound(codec, self.shape))
        self.out = DeviceBuffer(values.nbytes)
        self.workspace_nbytes = workspace_bytes(codec, self.shape)
        self.workspace = DeviceBuffer(np.zeros(max(1, self.workspace_nbytes), np.uint8))
        # The GPU writes outcomes here; the host reads and clears them.
        self._words = Scratch.acquire(16, gpu=None)
        self.words = np.frombuffer(ffi.buffer(at(self._words.address), 16), np.uint64)
        self.words[:] = 0

    def _lent(self, word: int) -> tuple:
        outcome = ffi.cast("uint64_t *", self._words.address + 8 * word)
        options = options_struct(stream=self.stream.number)
        return options, at(self.workspace.address), self.workspace_nbytes, outcome

    def encode(self) -> int:
        source, frame = at(self.source.address), at(self.frame.address)
        options, *lent = self._lent(0)
        return library().tw_message_encode_enqueue(
            self.codec.handle, self.shape, source, frame, self.frame.nbytes, options, *lent
        )

    def decode(self, length: int | None = None, codec: Codec | None = None) -> int:
        """A frame of `length` bytes, by default with all the room there is as padding."""
        frame, out = at(self.frame.address), at(self.out.address)
        length = self.frame.nbytes if length is None else length
        options, *lent = self._lent(1)
        handle = (codec or self.codec).handle
        return library().tw_message_decode_enqueue(
            handle, self.shape, frame, length, out, self.out.nbytes, options, *lent
        )

    def clear(self) -> None:
        self.words[:] = 0

    def encoded(self) -> tuple[int, np.ndarray]:
        """Status and frame, once the stream is finished."""
        self.stream.finish()
        status, nbytes = outcome_of(int(self.words[0]))
        return status, self.frame.read()[: nbytes if status == 0 else 0]

    def decoded(self) -> tuple[int, np.ndarray]:
        self.stream.finish()
        return outcome_of(int(self.words[1]))[0], self.out.read()

    def load(self, values: np.ndarray) -> None:
        """Another array of the same size; the stream must be idle."""
        data = np.ascontiguousarray(values)
        copy(self.source.address, data.ctypes.data, data.nbytes)

    def load_frame(self, frame: np.ndarray) -> None:
        """A frame to decode; the stream must be idle."""
        self.frame.write(None)
        copy(self.frame.address, frame.ctypes.data, frame.size)

    def check_encoded(self, expected: np.ndarray) -> None:
        status, frame = self.encoded()
        assert status == 0 and np.array_equal(frame, expected)

    def check(self, values: np.ndarray, expected: tuple[int, np.ndarray]) -> None:
        """Both outcomes and all bytes, after an encode and a decode of `values`; `expected` is
        the CPU's status and frame."""
        status, frame = self.encoded()
        assert status == expected[0]
        if status == 0:
            assert np.array_equal(frame, expected[1])
            assert self.decoded()[0] == 0
            assert np.array_equal(self.decoded()[1], decode_on_host(frame, values.nbytes)[1])
        self.workspace.read()
