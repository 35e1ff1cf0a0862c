"""What a user registers: the plugin, the preload's functions, and both by hand."""

import logging
from os import PathLike
from typing import Any

import dask.config
from distributed import WorkerPlugin
from tornado.ioloop import PeriodicCallback

from thinwire.dask import counters, families, handshake, link, setting, transfers
from thinwire.library import library

_log = logging.getLogger("thinwire.dask")


class ThinwirePlugin(WorkerPlugin):
    """Compresses the arrays that workers send to each other. `client.register_plugin(plugin)`.

    `codec` is lossless: "auto", "lossless", a spec, or "off", by which only arrays travel
    compressed that `thinwire.dask.lossy` has marked. `policy`, the path of a file of rules
    (docs/guide/policy.md), names codecs by type and size; its operation is "send". Arrays of fewer
    bytes than `min_bytes` go raw. An array is compressed if encoding, sending the frame and
    decoding take less time than sending it raw, by the codec's speed and the network's rate, both
    observed; `link` ("10gbit", or bytes per second) states the rate instead. Where that says so,
    transfers are timed both ways, and the faster one stays. `same_host` compresses between workers
    of one host, too. `force`, or THINWIRE_FORCE=1 of a worker, leaves weighing and timing out, for
    measurements.

    What is not given is taken from Dask's configuration (`thinwire.codec`, `thinwire.min-bytes`,
    `thinwire.link`, `thinwire.same-host`, `thinwire.force`, `thinwire.policy`), where the plugin is
    made. Workers without Thinwire get, and send, raw arrays. Raises ValueError or ThinwireError
    for a setting that is wrong.
    """

    name = "thinwire"

    def __init__(
        self,
        codec: str | None = None,
        *,
        min_bytes: int | str | None = None,
        link: float | str | None = None,
        same_host: bool | None = None,
        force: bool | None = None,
        policy: str | PathLike[str] | None = None,
    ) -> None:
        def of(name: str, given: Any) -> Any:
            configured = dask.config.get(f"thinwire.{name}", setting.DEFAULTS[name])
            return configured if given is None else given

        self._words = {
            "codec": of("codec", codec),
            "min_bytes": of("min-bytes", min_bytes),
            "link": of("link", link),
            "same_host": bool(of("same-host", same_host)),
            "force": bool(of("force", force)),
            "policy": setting.policy_text(of("policy", policy)),
        }
        self._setting = setting.make(**self._words)

    def __reduce__(self) -> Any:
        return eval, (_MAKING, {"words": self._words})

    def setup(self, worker: Any) -> None:
        """Of each worker, by Dask."""
        _begin(id(worker), self._setting)
        worker.metrics.update(counters.metrics())
        sampler = PeriodicCallback(link.watch.sample, link.SAMPLE_MILLISECONDS)
        worker.periodic_callbacks["thinwire"] = sampler
        sampler.start()
        transfers.watch(worker)
        # Connections that are open say nothing of what this worker decodes by now.
        worker.rpc.collect()

    def teardown(self, worker: Any) -> None:
        """Of each worker, by Dask. What comes compressed is decoded still."""
        setting.let_go(id(worker))
        transfers.leave(worker)
        for name in counters.metrics():
            worker.metrics.pop(name, None)
        sampler = worker.periodic_callbacks.pop("thinwire", None)
        if sampler is not None:
            sampler.stop()


# A worker without the package gets a plugin that does nothing, so that one plugin can be registered
# on all.
_MAKING = (
    "__import__('thinwire.dask.plugin', fromlist=['restore']).restore(words) "
    "if __import__('importlib.util').util.find_spec('thinwire') "
    "else __import__('distributed').WorkerPlugin()"
)


def restore(words: dict[str, Any]) -> WorkerPlugin:
    """The plugin as it was made, without a look at the configuration of this process; one that does
    nothing, and a warning, if this installation does not work."""
    try:
        plugin = ThinwirePlugin.__new__(ThinwirePlugin)
        plugin._words, plugin._setting = words, setting.make(**words)
    except Exception as error:  # noqa: BLE001, whatever is wrong here, the worker goes on without
        _log.warning("thinwire.dask: this worker sends raw arrays: %s", error)
        return WorkerPlugin()
    return plugin


def enable(codec: str | None = None, **words: Any) -> None:
    """For a process that is no worker, as a client that gathers and scatters directly: sends and
    takes compressed arrays from now on, on new connections. Arguments as of ThinwirePlugin. Only
    workers observe the network: without `link=` a client sends raw arrays."""
    _begin(None, ThinwirePlugin(codec, **words)._setting)


def disable() -> None:
    """Ends what `enable` began: this process sends raw arrays, and still decodes."""
    setting.let_go(None)


def _begin(owner: object, what: setting.Setting) -> None:
    library()
    families.register()
    handshake.announce()
    setting.hold(owner, what)


async def dask_setup(worker: Any) -> None:
    """`dask worker --preload thinwire.dask`: the plugin by Dask's configuration, as by
    DASK_THINWIRE__CODEC=lossless. Does nothing on other servers, which read no arrays."""
    if not hasattr(worker, "plugin_add"):
        return
    try:
        plugin = ThinwirePlugin()
    except FileNotFoundError as error:
        _log.warning("thinwire.dask: this worker sends raw arrays: %s", error)
        return
    await worker.plugin_add(plugin=plugin, name=plugin.name)


async def dask_teardown(worker: Any) -> None:
    """By Dask, when the worker closes."""
    if hasattr(worker, "plugins"):
        setting.let_go(id(worker))
