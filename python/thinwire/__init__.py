"""On-the-fly compression of float messages: codecs and frames from Python, on CPU and GPU."""

from thinwire.codec import Codec, CodecCost, CodecInfo, allow_decoding, codecs
from thinwire.comm import (
    IN_PLACE,
    MAX,
    MIN,
    PROD,
    SUM,
    CollectiveReport,
    Communicator,
    Reduction,
    Transport,
    local_ranks,
    schedules,
)
from thinwire.gpu import Frame, GpuArray
from thinwire.library import ThinwireError, format_version, version
from thinwire.message import MessageInfo, compress, decompress, inspect
from thinwire.pools import PoolCounters, gpu_count, host_pool_counters, pool_counters

__all__ = [
    "IN_PLACE",
    "MAX",
    "MIN",
    "PROD",
    "SUM",
    "Codec",
    "CodecCost",
    "CodecInfo",
    "CollectiveReport",
    "Communicator",
    "Frame",
    "GpuArray",
    "MessageInfo",
    "PoolCounters",
    "Reduction",
    "ThinwireError",
    "Transport",
    "allow_decoding",
    "codecs",
    "compress",
    "decompress",
    "format_version",
    "gpu_count",
    "host_pool_counters",
    "inspect",
    "local_ranks",
    "pool_counters",
    "schedules",
    "version",
]

__version__ = version()
