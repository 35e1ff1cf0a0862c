"""The C calls under test, with addresses instead of arrays and statuses instead of exceptions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.codec import Codec
from thinwire.library import check, ffi, ffi_new, library, new_struct

CANARY = 0xC5
GUARD_BYTES = 256


def at(address: int) -> Any:
    return ffi.cast("void *", address)


def shape_struct(dtype: str, shape: tuple[int, ...]) -> Any:
    made = ffi_new("tw_shape *")
    made.dtype, made.rank = dtypes.CODES[dtype], len(shape)
    made.extent[0 : len(shape)] = shape
    return made


def options_struct(flags: int = 0, stream: int = 0) -> Any:
    made = new_struct("tw_message_options")
    made.flags, made.stream = flags, at(stream)
    return made


def bound(codec: Codec, shape: Any) -> int:
    out = ffi_new("uint64_t *")
    check(library().tw_message_bound(codec.handle, shape, out))
    return out[0]


def workspace_bytes(codec: Codec, shape: Any) -> int:
    out = ffi_new("uint64_t *")
    check(library().tw_message_workspace(codec.handle, shape, out))
    return out[0]


def encode(
    codec: Codec, shape: Any, source: int, target: int, capacity: int, options: Any = None
) -> tuple[int, int]:
    """Status, and the frame's bytes."""
    written = ffi_new("uint64_t *")
    options = options or ffi.NULL
    status = library().tw_message_encode(
        codec.handle, shape, at(source), at(target), capacity, options, written
    )
    return status, written[0]


def decode(source: int, length: int, target: int, capacity: int, options: Any = None) -> int:
    options = options or ffi.NULL
    return library().tw_message_decode(at(source), length, at(target), capacity, options, ffi.NULL)


def copy(target: int, source: int, nbytes: int) -> None:
    if nbytes:
        check(library().tw_memory_copy(at(target), at(source), nbytes))


def outcome_of(word: int) -> tuple[int, int]:
    """Status and bytes of an outcome that is known."""
    out = ffi_new("uint64_t *")
    return library().tw_outcome_read(word, out), out[0]


@dataclass
class Scratch:
    """Memory from the library's pools."""

    address: int

    @classmethod
    def acquire(cls, nbytes: int, gpu: int | None = 0) -> "Scratch":
        """On a GPU, or pinned (None)."""
        lib = library()
        out = ffi_new("void **")
        kind = lib.TW_MEMORY_PINNED if gpu is None else lib.TW_MEMORY_DEVICE
        check(lib.tw_scratch_acquire(kind, gpu or 0, nbytes, out))
        return cls(int(ffi.cast("uintptr_t", out[0])))

    def __del__(self) -> None:
        library().tw_scratch_release(at(self.address))


class DeviceBuffer:
    """`nbytes` bytes of GPU memory, `offset` bytes behind a boundary of 256, between canaries."""

    def __init__(self, contents: np.ndarray | int, offset: int = 0, gpu: int = 0) -> None:
        """Of these contents (any dtype), or of so many bytes of canaries."""
        self.nbytes = contents if isinstance(contents, int) else contents.nbytes
        self._before = GUARD_BYTES + offset
        self._scratch = Scratch.acquire(self._before + self.nbytes + GUARD_BYTES, gpu)
        self._size = self._before + self.nbytes + GUARD_BYTES
        self.write(None if isinstance(contents, int) else contents)

    @property
    def address(self) -> int:
        return self._scratch.address + self._before

    def write(self, contents: np.ndarray | None) -> None:
        """New contents (None: canaries), and fresh canaries around them."""
        image = np.full(self._size, CANARY, np.uint8)
        if contents is not None:
            data = np.ascontiguousarray(contents).reshape(-1).view(np.uint8)
            image[self._before : self._before + self.nbytes] = data
        copy(self._scratch.address, image.ctypes.data, self._size)

    def read(self) -> np.ndarray:
        """The contents; AssertionError where a canary is gone."""
        image = np.empty(self._size, np.uint8)
        copy(image.ctypes.data, self._scratch.address, self._size)
        end = self._before + self.nbytes
        assert (image[: self._before] == CANARY).all(), "written before the buffer"
        assert (image[end:] == CANARY).all(), "written behind the buffer"
        return image[self._before : end]


def encode_on_host(
    codec: Codec, dtype: str, shape: tuple[int, ...], values: np.ndarray, flags: int = 0
) -> tuple[int, np.ndarray]:
    """Status and frame from the CPU."""
    made = shape_struct(dtype, shape)
    frame = np.full(bound(codec, made), CANARY, np.uint8)
    status, written = encode(
        codec, made, values.ctypes.data, frame.ctypes.data, frame.size, options_struct(flags)
    )
    return status, frame[:written]


def decode_on_host(frame: np.ndarray, nbytes: int) -> tuple[int, np.ndarray]:
    """Status and bytes from the CPU."""
    out = np.full(nbytes, CANARY, np.uint8)
    return decode(frame.ctypes.data, frame.size, out.ctypes.data, nbytes), out
