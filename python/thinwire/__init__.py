"""On-the-fly compression of float messages: codecs and frames from Python, on CPU and GPU."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if _missing := [name for name in ("cffi", "numpy") if find_spec(name) is None]:
    raise ImportError(f"thinwire needs {' and '.join(_missing)}: pip install {' '.join(_missing)}")

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
    "Communicator",
    "Counters",
    "Frame",
    "GpuArray",
    "Kind",
    "MessageInfo",
    "Policy",
    "PolicyRule",
    "PoolCounters",
    "Reduction",
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
    "stats",
    "stats_kinds",
    "version",
]

if TYPE_CHECKING:
    __version__: str


def __getattr__(name: str) -> str:
    """`__version__` is the library's, asked when it is wanted: importing needs no library."""
    if name == "__version__":
        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
