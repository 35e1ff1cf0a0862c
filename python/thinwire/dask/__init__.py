"""Compressed arrays between the workers of a Dask cluster. The guide is docs/guide/dask.md.

client.register_plugin(thinwire.dask.ThinwirePlugin())      # or:
dask worker SCHEDULER --preload thinwire.dask
"""

from importlib.util import find_spec

if find_spec("distributed") is None:
    raise ImportError("thinwire.dask needs Dask's scheduler: pip install distributed")

from thinwire.dask.counters import ClassStats, DaskStats, stats
from thinwire.dask.marks import lossy
from thinwire.dask.plugin import ThinwirePlugin, dask_setup, dask_teardown, disable, enable

__all__ = [
    "ClassStats",
    "DaskStats",
    "ThinwirePlugin",
    "dask_setup",
    "dask_teardown",
    "disable",
    "enable",
    "lossy",
    "stats",
]
