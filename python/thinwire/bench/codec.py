"""How fast a codec is on one thread, how much it saves, and whether it keeps its word."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thinwire import message
from thinwire.bench.buffers import FrameBuffers
from thinwire.bench.samples import Sample, to_float
from thinwire.codec import Codec, CodecInfo, codecs
from thinwire.library import ThinwireError, library

ZFP_RATES = (4, 8, 16)

# What a frame may hold beyond its codec's bits: headers, a row and some padding per chunk.
FRAME_SHARE, FRAME_BYTES = 0.005, 256


@dataclass(frozen=True)
class CodecRow:
    """One codec on one array. GB/s are 10^9 uncompressed bytes per second of one thread, of the
    fastest run; figures are None where the row is not verified, and `note` then says why."""

    codec: str
    data: str
    dtype: str
    bytes: int
    frame_bytes: int | None
    ratio: float | None
    encode_gb_per_second: float | None
    decode_gb_per_second: float | None
    max_error: float | None
    verified: bool
    note: str


class UnverifiedError(Exception):
    """The codec did not do what it promises; the text says what."""


def default_specs() -> list[str]:
    """The example of every codec that this machine's CPU runs, and some rates of zfp."""
    specs = [info.example for info in codecs() if not info.gpu_only]
    if any(info.name == "zfp" for info in codecs()):
        specs += [f"zfp:rate={rate}" for rate in ZFP_RATES]
    return list(dict.fromkeys(specs))


def row_of(codec: Codec) -> CodecInfo:
    """The registry's row of a spec; ValueError for "off" and "auto", which name none."""
    number = library().tw_codec_id(codec.handle)
    for info in codecs():
        if info.id == number:
            return info
    raise ValueError(f"{codec.spec!r} names no codec to measure")


def measure(codec: Codec, sample: Sample, runs: int) -> CodecRow:
    """Time and verify one codec on one sample whose dtype it takes."""
    try:
        return _measure(codec, sample, runs)
    except (UnverifiedError, ThinwireError) as error:
        return CodecRow(
            codec=codec.spec,
            data=sample.name,
            dtype=sample.dtype,
            bytes=sample.values.nbytes,
            frame_bytes=None,
            ratio=None,
            encode_gb_per_second=None,
            decode_gb_per_second=None,
            max_error=None,
            verified=False,
            note=str(error),
        )


def _measure(codec: Codec, sample: Sample, runs: int) -> CodecRow:
    buffers = FrameBuffers(codec, sample.values, sample.dtype)
    buffers.encode()
    frame, decoded = buffers.frame.copy(), buffers.decode_afresh()
    encode_seconds = _fastest(buffers.encode, runs)
    decode_seconds = _fastest(buffers.decode, runs)
    if not np.array_equal(buffers.frame, frame):
        raise UnverifiedError("the same array gave different bytes")
    if not np.array_equal(buffers.decoded, decoded) or not np.array_equal(
        buffers.decode_afresh(), decoded
    ):
        raise UnverifiedError("the same frame gave different values")
    went_raw = message.inspect(frame).codec_id != row_of(codec).id
    verify(codec, sample, len(frame), decoded, went_raw)
    nbytes = sample.values.nbytes
    return CodecRow(
        codec=codec.spec,
        data=sample.name,
        dtype=sample.dtype,
        bytes=nbytes,
        frame_bytes=len(frame),
        ratio=nbytes / len(frame),
        encode_gb_per_second=nbytes / encode_seconds / 1e9,
        decode_gb_per_second=nbytes / decode_seconds / 1e9,
        max_error=max_error(sample, decoded),
        verified=True,
        note="went raw" if went_raw else "",
    )


def _fastest(work: Callable[[], None], runs: int) -> float:
    """Seconds of the fastest of `runs` runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter_ns()
        work()
        best = min(best, time.perf_counter_ns() - start)
    return max(best, 1) / 1e9


def verify(
    codec: Codec, sample: Sample, frame_bytes: int, decoded: np.ndarray, went_raw: bool
) -> None:
    """Hold the outcome to what the registry says of the codec; UnverifiedError where it fails."""
    info = row_of(codec)
    if info.lossless or went_raw:
        if not np.array_equal(decoded, sample.values.view(np.uint8)):
            raise UnverifiedError("what came back is not what went in")
    elif not np.isfinite(to_float(decoded.view(sample.values.dtype), sample.dtype)).all():
        raise UnverifiedError("finite values came back as NaN or infinity")
    if info.fixed_size and not went_raw:
        _verify_fixed_size(codec, sample, frame_bytes)


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
    stated = sample.values.size * float(rate) / 8
    if not stated <= frame_bytes <= stated * (1 + FRAME_SHARE) + FRAME_BYTES:
        raise UnverifiedError(f"{frame_bytes} bytes, where the rate says {stated:.0f}")


def options_of(spec: str) -> dict[str, str]:
    """The options of a spec in its normal form."""
    pairs = (part.partition("=") for part in spec.partition(":")[2].split(",") if part)
    return {name: value for name, _, value in pairs}


def max_error(sample: Sample, decoded: np.ndarray) -> float:
    """The largest difference of a value, 0 where all bits agree (NaN included)."""
    if np.array_equal(decoded, sample.values.view(np.uint8)):
        return 0.0
    values = to_float(decoded.view(sample.values.dtype), sample.dtype)
    return float(np.max(np.abs(values - to_float(sample.values, sample.dtype))))
