"""How fast a codec is on this machine, now."""

import math

from .model import CodecSpeed


def codec_speed(spec: str, message_bytes: int) -> CodecSpeed:
    """Measured on fp32 messages of the program's own size, one thread, on an idle machine."""
    from .. import Codec

    cost = Codec(spec).measure("f32", message_bytes)
    return CodecSpeed(cost.encode_bytes_per_second, cost.decode_bytes_per_second)


def gpu_codec_speed(spec: str, message_bytes: int) -> CodecSpeed:
    """The same on the first GPU and smooth generated values; infinite, with the reason in `basis`,
    where it cannot be measured."""
    from .. import Codec
    from ..bench import generators, p2p_gpu_cost

    reason = p2p_gpu_cost.why_no_gpu()
    if not reason:
        values = generators.generate("smooth", "f32", message_bytes).values
        cost = p2p_gpu_cost.measure_on_gpu(Codec(spec), values)
        if cost is not None:
            return CodecSpeed(
                values.nbytes / cost.encode_seconds,
                values.nbytes / cost.decode_seconds,
                "wire and codec on the GPU",
            )
        reason = "the GPU encodes nothing"
    return CodecSpeed(math.inf, math.inf, f"wire only ({reason})")
