"""On-the-fly compression of float messages: codecs and frames from Python, on CPU and GPU."""

# ruff: noqa: F403, F405 - what type checkers see of api.py, and programs by __getattr__()
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if _missing := [name for name in ("cffi", "numpy") if find_spec(name) is None]:
    raise ImportError(f"thinwire needs {' and '.join(_missing)}: pip install {' '.join(_missing)}")

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

if TYPE_CHECKING:
    from thinwire.api import *

    __version__: str


def __getattr__(name: str) -> Any:
    """A public name, which is imported with all others when the first of them is asked for: a
    launcher of thousands of ranks, as `thinwire exec` is, needs none. `__version__` is the
    library's, asked when it is wanted: importing needs no library."""
    if name == "__version__":
        from thinwire.library import version

        return version()
    if name in __all__:
        from thinwire import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
