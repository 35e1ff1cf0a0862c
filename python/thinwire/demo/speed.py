"""How fast a codec is on this machine, now."""

from .model import CodecSpeed


def codec_speed(spec: str, message_bytes: int) -> CodecSpeed:
    """Measured on fp32 messages of the program's own size, one thread, on an idle machine."""
    from .. import Codec

    cost = Codec(spec).measure("f32", message_bytes)
    return CodecSpeed(cost.encode_bytes_per_second, cost.decode_bytes_per_second)
