"""On-the-fly compression of float messages: codecs and frames from Python, on CPU and GPU."""

from thinwire.codec import Codec, CodecCost, CodecInfo, codecs
from thinwire.gpu import Frame, GpuArray
from thinwire.library import ThinwireError, format_version, version
from thinwire.message import MessageInfo, compress, decompress, inspect
from thinwire.pools import PoolCounters, gpu_count, pool_counters

__all__ = [
    "Codec",
    "CodecCost",
    "CodecInfo",
    "Frame",
    "GpuArray",
    "MessageInfo",
    "PoolCounters",
    "ThinwireError",
    "codecs",
    "compress",
    "decompress",
    "format_version",
    "gpu_count",
    "inspect",
    "pool_counters",
    "version",
]

__version__ = version()
