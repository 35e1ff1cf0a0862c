"""What the package offers by its own name; it is imported when the first of it is used."""

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
from thinwire.policy import Policy, PolicyRule
from thinwire.pools import PoolCounters, gpu_count, host_pool_counters, pool_counters
from thinwire.simulation import Comparison, Machine, Simulation, simulate
from thinwire.statistics import Counters, Kind, Stats, stats, stats_kinds

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
    "Comparison",
    "Communicator",
    "Counters",
    "Frame",
    "GpuArray",
    "Kind",
    "Machine",
    "MessageInfo",
    "Policy",
    "PolicyRule",
    "PoolCounters",
    "Reduction",
    "Simulation",
    "Stats",
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
    "simulate",
    "stats",
    "stats_kinds",
    "version",
]
