"""Ranks as threads, and values whose sums are exact in every type."""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from thinwire import Transport, dtypes
from thinwire.bench.samples import from_float, to_float
from thinwire.comm.interrupts import keep
from thinwire.library import ffi, library, new_struct

SECONDS = 60.0


def on_ranks(communicators: Sequence[Any], body: Callable[[Any], Any]) -> list[Any]:
    """What `body` returns or raises on each rank; an assertion fails where one hangs."""
    results: list[Any] = [None] * len(communicators)

    def run(index: int) -> None:
        try:
            results[index] = body(communicators[index])
        except Exception as error:
            results[index] = error

    threads = [
        threading.Thread(target=run, args=(index,), daemon=True)
        for index in range(len(communicators))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a rank hangs"
    return results


def checked(results: list[Any]) -> list[Any]:
    """The same; raises what a rank raised."""
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def _fixed(values: np.ndarray, dtype: str) -> np.ndarray:
    array = from_float(values, dtype)
    array.flags.writeable = False
    return array


@lru_cache(64)
def whole(dtype: str, count: int, rank: int) -> np.ndarray:
    """Whole numbers below 23, which compress; not to be written to, as all of these."""
    return _fixed(((np.arange(count) // 7 + 3 * rank) % 23).astype(np.float64), dtype)


@lru_cache(64)
def ones_and_twos(dtype: str, count: int, rank: int) -> np.ndarray:
    return _fixed(1.0 + (np.arange(count) // 5 + rank) % 2, dtype)


@lru_cache(64)
def smooth(dtype: str, count: int, rank: int) -> np.ndarray:
    at = np.arange(count, dtype=np.float64)
    return _fixed(np.sin(0.01 * at + rank) + 0.3 * np.sin(0.00137 * at), dtype)


def combined(arrays: Sequence[np.ndarray], dtype: str, ufunc: Any = np.add) -> np.ndarray:
    """What ranks with these arrays reduce to, in fp64 and then rounded."""
    return from_float(ufunc.reduce([to_float(each, dtype) for each in arrays]), dtype)


def typed(array: np.ndarray, dtype: str) -> Any:
    """The array as a buffer: 16-bit words must be told."""
    return [array, dtype] if dtype == "bf16" else array


def empty(dtype: str, count: int) -> np.ndarray:
    """Bytes that no result has: every one of them has to be written."""
    array = np.empty(count, dtypes.NUMPY[dtype])
    array.view(np.uint8).fill(0xA5)
    return array


# Transports between threads that lose their network or damage what they carry.

FAILURE = 8  # TW_INTERNAL


class Network:
    """What the ends of one network share."""

    def __init__(self, fails_after: int | None = None, damages: int | None = None) -> None:
        """Down for all ranks once `fails_after` messages were sent; `damages` is the number of the
        message that rank 1 receives with one bit changed."""
        self.fails_after, self.damages = fails_after, damages
        self.armed = False  # not while the ranks agree
        self.sent = self.received = 0

    @property
    def is_down(self) -> bool:
        return self.armed and self.fails_after is not None and self.sent >= self.fails_after


def ends_of(network: Network, ranks: int) -> list[Transport]:
    return [_wrap(end, network) for end in Transport.local(ranks)]


def _wrap(end: Transport, network: Network) -> Transport:
    """`end` with the network's faults in front of it."""
    library()
    inner, outer = end.take(), new_struct("tw_transport")
    outer.rank, outer.ranks = inner.rank, inner.ranks
    receiving: dict[int, tuple[Any, int]] = {}  # memory of requests, to damage it

    def send(_: Any, peer: int, data: Any, nbytes: int, request: Any) -> int:
        if network.is_down:
            return FAILURE
        network.sent += network.armed
        return inner.send(inner.context, peer, data, nbytes, request)

    def receive(_: Any, peer: int, data: Any, capacity: int, request: Any) -> int:
        if network.is_down:
            return FAILURE
        status = inner.receive(inner.context, peer, data, capacity, request)
        receiving[request[0]] = data
        return status

    def test(_: Any, count: int, requests: Any, places: Any, nbytes: Any, done: Any) -> int:
        if network.is_down:
            return FAILURE
        status = inner.test(inner.context, count, requests, places, nbytes, done)
        for index in range(done[0]):
            memory = receiving.pop(requests[places[index]], None)
            if memory is not None and network.armed and inner.rank == 1:
                _damage(network, memory, nbytes[index])
        return status

    callbacks = {"send": send, "receive": receive, "test": test}
    kept: list[Any] = [end, inner]
    for name, function in callbacks.items():
        kept.append(_callback(name, function))
        setattr(outer, name, kept[-1])
    outer.release = inner.release
    outer.context = inner.context
    return Transport(outer, kept)


def _damage(network: Network, memory: Any, nbytes: int) -> None:
    network.received += 1
    if network.received == network.damages and nbytes:
        bytes_of = ffi.cast("uint8_t *", memory)
        bytes_of[nbytes - 1] ^= 0x10


def _callback(name: str, function: Callable[..., int]) -> Any:
    kind = ffi.typeof(new_struct("tw_transport"))  # a pointer to the struct
    fields = dict(kind.item.fields)
    return ffi.callback(fields[name].type, function, error=FAILURE, onerror=keep)
