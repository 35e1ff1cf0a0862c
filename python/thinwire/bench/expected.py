"""What a message should come to: computed here by the codec, before any message is sent."""

from dataclasses import dataclass

import numpy as np

from thinwire.bench.buffers import FrameBuffers
from thinwire.bench.samples import Sample
from thinwire.bench.specs import error_of
from thinwire.codec import Codec


@dataclass(frozen=True)
class Expected:
    """One fp32 message under one codec. `ratio` is raw over wire bytes; the seconds are those of
    encoding and decoding it, measured on this machine, one thread. `why_raw` says why the message
    is not compressed, if it is not."""

    compressed: bool
    identical: bool
    ratio: float = 1
    max_error: float = 0
    encode_seconds: float = 0
    decode_seconds: float = 0
    why_raw: str = ""


def expect(codec: Codec, values: np.ndarray, threshold: int) -> Expected:
    """What the shim makes of `values` (fp32), and how fast the codec is at that size now."""
    if values.nbytes < threshold:
        return Expected(compressed=False, identical=True, why_raw="below the threshold")
    sample = Sample("message", "f32", values)
    buffers = FrameBuffers(codec, values, "f32")
    buffers.encode()
    frame_bytes = len(buffers.frame)
    if frame_bytes >= values.nbytes:
        return Expected(compressed=False, identical=True, why_raw="would not shrink")
    decoded = buffers.decode_afresh()
    cost = codec.measure("f32", values.nbytes)
    return Expected(
        compressed=True,
        identical=np.array_equal(decoded, values.view(np.uint8)),
        ratio=values.nbytes / frame_bytes,
        max_error=error_of(codec.spec, sample, decoded).largest,
        encode_seconds=values.nbytes / cost.encode_bytes_per_second,
        decode_seconds=values.nbytes / cost.decode_bytes_per_second,
    )


def allowed_speedup(native_seconds: float, startup_seconds: float, expected: Expected) -> float:
    """The speed-up if a compressed message took Ts + Tc + S/(CR*B) + Td and nothing else.

    `native_seconds` is the raw message's measured time, Ts + S/B, and `startup_seconds`, Ts, that
    of a message of a few bytes, so that what is left is S/B at the rate this message reached.
    """
    transfer = max(0.0, native_seconds - startup_seconds)
    codec_seconds = expected.encode_seconds + expected.decode_seconds
    return native_seconds / (startup_seconds + codec_seconds + transfer / expected.ratio)


def refill_seconds(expected: Expected, burst_bytes: int, bytes_per_second: float | None) -> float:
    """The most that a token bucket can have saved a compressed message: it fills up again while
    the sender encodes, when no real link would gather credit."""
    if bytes_per_second is None:
        return 0.0
    return min(expected.encode_seconds, burst_bytes / bytes_per_second)
