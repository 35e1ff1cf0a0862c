"""Transports between threads that lose their network or damage what they carry."""

from collections.abc import Callable
from typing import Any

from thinwire import Transport
from thinwire.comm.interrupts import keep
from thinwire.library import ffi, library, new_struct

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
