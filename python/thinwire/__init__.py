"""On-the-fly compression of float messages: codecs and frames from Python."""

from thinwire.codec import Codec, CodecCost, CodecInfo, codecs
from thinwire.library import ThinwireError, format_version, version
from thinwire.message import MessageInfo, decode, encode, inspect

__all__ = [
    "Codec",
    "CodecCost",
    "CodecInfo",
    "MessageInfo",
    "ThinwireError",
    "codecs",
    "decode",
    "encode",
    "format_version",
    "inspect",
    "version",
]

__version__ = version()
