"""One array to one frame for a connection, or not, and back: shared by all kinds of arrays."""

import logging
from collections.abc import Callable, Mapping
from functools import cache
from time import perf_counter
from typing import Any

from distributed.metrics import context_meter

import thinwire
from thinwire.dask import counters, handshake, marks, setting, transfers
from thinwire.dask.choice import Array, History, Sample, history_of, learn_decode, link_of
from thinwire.dask.guard import guard_of

_log = logging.getLogger("thinwire.dask")
_told: set[str] = set()


def encode(
    array: Any,
    floats: Callable[[], Any],
    dtype: str | None,
    nbytes: int,
    gpu: int | None,
    context: Mapping[str, Any] | None,
) -> Any:
    """The frame of `array` (bytes, or a `Frame` on its GPU) for the connection of `context`, None
    if it goes raw.

    `floats` makes the array that is coded of it: contiguous, of `dtype`, which is None for types
    that are not compressed. Never raises: what fails goes raw, and is told once.
    """
    now = setting.current()
    if now is None or not handshake.is_transfer(context):
        return None
    assert context is not None
    transfer = transfers.current()
    if transfer is not None:
        transfer.add(nbytes)
    what = Array(dtype or "bytes", nbytes, gpu, handshake.on_same_host(context))
    try:
        spec = marks.mark_of(array) or now.codec_for(what.dtype, nbytes)
        why = _why_plain(now, context, what, spec, dtype)
        if why:
            counters.count_plain(nbytes, why)
            return None
        return _coded(now, what, spec, floats())
    except Exception as error:  # noqa: BLE001, the array is at stake, and stock Dask sends it
        _tell_once(f"an array of {what.dtype} goes raw: {error}")
        counters.count_plain(nbytes, "failed")
        return None


class DamagedFrame(thinwire.ThinwireError, OSError):
    """What came is no sound frame of the array that it was said to be. An OSError, because Dask
    then asks for the data again: after other errors of reading it waits for ever
    (https://github.com/dask/distributed/issues/6705)."""


def damaged(why: object, status: int = 5) -> DamagedFrame:
    """To be raised; counted and told. `status` is by default TW_DAMAGED."""
    counters.count_damaged()
    _log.error("thinwire.dask: an array came damaged, and is asked for again: %s", why)
    return DamagedFrame(status, f"a damaged array came: {why}")


def decode(frame: Any, nbytes: int, out: Any = None) -> Any:
    """The array of a frame of `nbytes`: a new one, or `out`. DamagedFrame for what is no such
    frame."""
    begin = perf_counter()
    with context_meter.meter("thinwire-decode"):
        try:
            info = thinwire.inspect(frame)
            if info.raw_bytes != nbytes:
                raise damaged(f"{info.raw_bytes} bytes for an array of {nbytes}")
            array = thinwire.decompress(frame, out=out)
        except DamagedFrame:
            raise
        except thinwire.ThinwireError as error:
            raise damaged(error, error.status) from error
    seconds = perf_counter() - begin
    used, on_gpu = _name_of(info), getattr(array, "__cuda_array_interface__", None) is not None
    learn_decode(used, info.dtype, on_gpu, nbytes, seconds)
    counters.count_decoded(seconds)
    return array


@cache
def has_gpu_side() -> bool:
    """Whether this build and machine can decode into GPU memory; frames decode in host memory,
    too."""
    try:
        return thinwire.gpu_count() > 0
    except thinwire.ThinwireError:
        return False


def _why_plain(
    now: setting.Setting, context: Mapping[str, Any], what: Array, spec: str, dtype: str | None
) -> str:
    """What rules an array out, whatever values it has; "" for nothing."""
    if not handshake.peer_decodes(context):
        return "receiver without thinwire"
    if what.nbytes < now.least:
        return "below the threshold"
    if what.same_host and not now.same_host:
        return "same host"
    if spec == "off":
        return "off"
    if dtype is None or not setting.codec_of(spec).ids_for(dtype):
        return "type not compressed"
    return ""


def _coded(now: setting.Setting, what: Array, spec: str, array: Any) -> Any:
    """Encodes if that pays."""
    history = history_of(spec, what)
    link = link_of(now, what.same_host)
    if not now.force:
        why = _why_not_worth(history, link, what, lambda: _sample(array, spec, what))
        if why:
            counters.count_plain(what.nbytes, why, history.name)
            return None
    begin = perf_counter()
    with context_meter.meter("thinwire-encode"):
        frame = thinwire.compress(array, setting.codec_of(spec), dtype=what.dtype)
    seconds = perf_counter() - begin
    wire = _size_of(frame)
    used = _name_of(thinwire.inspect(frame))
    worth = history.learn(what, None if now.force else link, seconds, wire, used)
    if not worth:
        counters.count_plain(what.nbytes, "too little gained", history.name)
        return None
    counters.count_compressed(what.nbytes, wire, spec, seconds, history.name)
    return frame


def _why_not_worth(
    history: History, link: float | None, what: Array, sample: Callable[[], Sample]
) -> str:
    """By what transfers took, and if that does not rule it out by what is predicted."""
    if link is None:
        return "link not known yet"
    transfer, guard = transfers.current(), guard_of(history.name)
    if transfer is None:  # a client's, which are not timed
        return history.why_plain(what, link, sample)
    why = transfer.why_plain(guard, link) or history.why_plain(what, link, sample)
    if why:
        return why
    return "" if transfer.compresses(guard, history.expected) else counters.TIMED


def _sample(array: Any, spec: str, what: Array) -> Sample:
    """Of a part in the middle: of host memory an eighth of the array, and no more than a quarter
    MiB. Of a GPU's all of it, up to 16 MiB: a part would take about as long, and look slow."""
    flat = array.reshape(-1)
    values = len(flat)
    most = min(what.nbytes // 8, 256 << 10) if what.gpu is None else min(what.nbytes, 16 << 20)
    count = max(1, most * values // what.nbytes)
    first = (values - count) // 2
    part = flat[first : first + count]
    nbytes = count * what.nbytes // values
    begin = perf_counter()
    frame = thinwire.compress(part, setting.codec_of(spec), dtype=what.dtype)
    middle = perf_counter()
    thinwire.decompress(frame)
    end = perf_counter()
    return Sample(nbytes / _size_of(frame), nbytes / (middle - begin), nbytes / (end - middle))


def _name_of(info: thinwire.MessageInfo) -> str:
    return info.spec.partition(":")[0]


def _size_of(frame: Any) -> int:
    return len(frame) if isinstance(frame, bytes) else int(frame.nbytes)


def _tell_once(what: str) -> None:
    if what not in _told:
        _told.add(what)
        _log.warning("thinwire.dask: %s", what)
