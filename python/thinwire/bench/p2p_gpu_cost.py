"""How long a codec takes on the GPU, and on the very values that messages hold."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.codec import Codec
from thinwire.gpu import GpuMemory, copy_bytes
from thinwire.library import ThinwireError, check, ffi, ffi_new, library

WARMUPS = 3
RUNS = 15

_GPU = 0  # of those this process sees


@dataclass(frozen=True)
class GpuCost:
    """Seconds of one blocking encode and decode between two places in GPU memory, each the
    fastest of several: launches and the wait for the end included."""

    encode_seconds: float
    decode_seconds: float


def why_no_gpu() -> str:
    """Why codecs cannot run on a GPU in this process; empty where they can. Initialises CUDA."""
    count = ffi_new("uint32_t *")
    try:
        check(library().tw_device_count(count))
    except AttributeError:
        return "this library has no GPU side"
    except ThinwireError as error:
        return str(error)
    return "" if count[0] else "no GPU is visible"


def measure_on_gpu(codec: Codec, values: np.ndarray) -> GpuCost | None:
    """The cost of `values` (fp32) as one message on the first GPU; None where it is not encoded.

    Raises ThinwireError where the GPU fails, or decodes other values than the CPU.
    """
    lib = library()
    shape = ffi_new("tw_shape *")
    check(lib.tw_codec_shape(codec.handle, dtypes.CODES["f32"], values.size, shape))
    number = ffi.new("uint64_t *")
    check(lib.tw_message_bound(codec.handle, shape, number))
    room = number[0]
    source, frame = GpuMemory(values.nbytes, _GPU), GpuMemory(room, _GPU)
    target = GpuMemory(values.nbytes, _GPU)
    copy_bytes(source.pointer, values.ctypes.data, values.nbytes)
    at_source, at_frame, at_target = map(_address, (source, frame, target))
    none = ffi.NULL

    def encode() -> None:
        check(lib.tw_message_encode(codec.handle, shape, at_source, at_frame, room, none, number))

    def decode(to: Any) -> None:
        check(lib.tw_message_decode(at_frame, number[0], to, values.nbytes, none, none))

    encode_seconds = _fastest(encode)
    if number[0] >= values.nbytes:
        return None
    decode_seconds = _fastest(lambda: decode(at_target))
    on_cpu = np.empty(values.nbytes, np.uint8)
    decode(ffi.from_buffer(on_cpu, require_writable=True))
    if not np.array_equal(target.copy_to_host(values.nbytes), on_cpu):
        raise ThinwireError(lib.TW_INTERNAL, "the GPU decodes other values than the CPU")
    return GpuCost(encode_seconds, decode_seconds)


def _fastest(action: Callable[[], None]) -> float:
    seconds = []
    for _ in range(WARMUPS + RUNS):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds[WARMUPS:])


def _address(memory: GpuMemory) -> Any:
    return ffi.cast("void *", memory.pointer)
