"""How fast a codec is on one thread, how much it saves, and whether it keeps its word."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thinwire import message
from thinwire.bench.buffers import FrameBuffers, GpuFrameBuffers
from thinwire.bench.output import failed_row
from thinwire.bench.samples import Sample, order0_ratio
from thinwire.bench.specs import (
    AUTO,
    Error,
    error_of,
    options_of,
    row_of,
    went_raw,
    with_fill,
)
from thinwire.codec import Codec
from thinwire.library import ThinwireError

# Bytes that a frame may hold beyond its codec's bits: headers, a row and some padding per chunk.
FRAME_SHARE, FRAME_BYTES = 0.005, 256


@dataclass(frozen=True)
class CodecRow:
    """One codec on one array. GB/s are 10^9 uncompressed bytes per second of one thread, or of
    blocking calls for GPU memory, of the fastest run; `range` is largest less smallest finite
    value, `psnr` in dB of that, None if nothing differs. Figures are None if the row is not
    verified, and `note` then says why; `error_over_bound` also if the spec names no bound.
    `order0_ratio` is a property of the array."""

    codec: str
    data: str
    dtype: str
    shape: str
    bytes: int
    frame_bytes: int | None = None
    ratio: float | None = None
    order0_ratio: float | None = None
    encode_gb_per_second: float | None = None
    decode_gb_per_second: float | None = None
    max_error: float | None = None
    error_over_bound: float | None = None
    range: float | None = None
    psnr: float | None = None
    verified: bool = False
    note: str = ""


class UnverifiedError(Exception):
    """The codec did not do what it promises; the text says what."""


Buffers = type[FrameBuffers] | type[GpuFrameBuffers]


def measure(codec: Codec, sample: Sample, runs: int, place: Buffers = FrameBuffers) -> CodecRow:
    """Time and verify one codec on one sample whose dtype and rank it takes, in the memory that
    `place` is."""
    facts: dict[str, Any] = {
        "codec": codec.spec,
        "data": sample.name,
        "dtype": sample.dtype,
        "shape": sample.shape_text,
        "bytes": sample.values.nbytes,
    }
    try:
        return CodecRow(**facts, **_measure(codec, sample, runs, place))
    except (UnverifiedError, ThinwireError) as error:
        return CodecRow(**facts, note=str(error))
    except (MemoryError, OSError, ValueError) as error:
        return failed_row(CodecRow, error or "out of memory", **facts)


def _measure(codec: Codec, sample: Sample, runs: int, place: Buffers) -> dict[str, Any]:
    buffers = place(codec, sample.values, sample.dtype)
    buffers.encode()
    frame, decoded = buffers.frame.copy(), buffers.decode_afresh()
    encode_seconds = fastest(buffers.encode, runs)
    decode_seconds = fastest(buffers.decode, runs)
    # Some of nvCOMP's coders leave bytes that no decoder looks at.
    varies = row_of(codec).gpu_only and len(buffers.frame) == len(frame)
    if not varies and not np.array_equal(buffers.frame, frame):
        raise UnverifiedError("the same array gave different bytes")
    if not np.array_equal(buffers.decoded, decoded) or not np.array_equal(
        buffers.decode_afresh(), decoded
    ):
        raise UnverifiedError("the same frame gave different values")
    info = message.inspect(frame)
    raw = went_raw(codec, info)
    error = verify(codec, sample, len(frame), decoded, raw, options_of(info.spec).get("fill", ""))
    nbytes = sample.values.nbytes
    return {
        "frame_bytes": len(frame),
        "ratio": nbytes / len(frame),
        "order0_ratio": order0_ratio(sample),
        "encode_gb_per_second": nbytes / encode_seconds / 1e9,
        "decode_gb_per_second": nbytes / decode_seconds / 1e9,
        "max_error": error.largest,
        "error_over_bound": error.over_bound,
        "range": error.range,
        "psnr": error.psnr,
        "verified": True,
        "note": "went raw" if raw else info.spec if codec.spec == AUTO else "",
    }


def fastest(work: Callable[[], None], runs: int) -> float:
    """Seconds of the fastest of `runs` runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter_ns()
        work()
        best = min(best, time.perf_counter_ns() - start)
    return max(best, 1) / 1e9


def verify(
    codec: Codec,
    sample: Sample,
    frame_bytes: int,
    decoded: np.ndarray,
    is_raw: bool,
    fill: str = "",
) -> Error:
    """Hold the outcome to what the registry and the spec say of the codec, `fill` being what the
    frame says of missing values; UnverifiedError if it fails."""
    info = row_of(codec)
    error = error_of(with_fill(codec.spec, fill), sample, decoded)
    if (info.lossless or is_raw) and not np.array_equal(decoded, bytes_of(sample.values)):
        raise UnverifiedError("what came back is not what went in")
    if not np.isfinite(error.largest):
        raise UnverifiedError("finite values came back as NaN or infinity, or others as finite")
    if not error.is_kept:
        raise UnverifiedError(f"an error of {error.largest:.9g} where {error.bound:.9g} is allowed")
    if info.fixed_size and not is_raw and "fill" not in options_of(codec.spec):
        _verify_fixed_size(codec, sample, frame_bytes)
    return error


def bytes_of(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def _verify_fixed_size(codec: Codec, sample: Sample, frame_bytes: int) -> None:
    zeros = FrameBuffers(codec, np.zeros_like(sample.values), sample.dtype)
    zeros.encode()
    if len(zeros.frame) != frame_bytes:
        raise UnverifiedError(
            f"{frame_bytes} bytes, but {len(zeros.frame)} for zeros: the size depends on the data"
        )
    rate = options_of(codec.spec).get("rate")
    if rate is None:
        return
    # Blocks of 4 in each axis are whole.
    blocks = math.prod(-(-extent // 4) * 4 for extent in sample.values.shape)
    least, most = (count * float(rate) / 8 for count in (sample.values.size, blocks))
    if not least <= frame_bytes <= most * (1 + FRAME_SHARE) + FRAME_BYTES:
        raise UnverifiedError(f"{frame_bytes} bytes, where the rate says {most:.0f}")
