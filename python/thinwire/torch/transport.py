"""A transport over a process group of torch: frames travel as tensors of bytes, by its send and
recv.

Torch's receiver does not learn how much came, so a message begins with its length; gloo takes
messages that are shorter than the tensor that waits for them. All is posted at once, so that
messages follow each other on the wire. Torch's requests can be waited for but not polled: each peer
has a thread for either direction that waits for one after another.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from thinwire.comm import Transport
from thinwire.comm.interrupts import keep
from thinwire.library import ffi, library, new_struct
from thinwire.torch.companion import Companion

TAG = 0x7457
FAILURE = 8  # TW_INTERNAL
HEAD = 8  # bytes of a message's length
END_SECONDS = 5.0  # for threads that have nothing left to do
IDLE_SECONDS = 0.001  # how long a waiting rank sleeps; what arrives wakes it sooner


@dataclass
class _Message:
    request: int
    work: Any  # torch's
    wire: Any  # uint8: the length, and what is sent or has room
    memory: Any  # uint8, the library's, for what comes; None for what is sent


class _Line(threading.Thread):
    """The messages to, or from, one peer, in order."""

    def __init__(self, name: str, ended: Callable[[_Message], int], wire: "_Wire") -> None:
        super().__init__(name=name, daemon=True)
        self.waiting: queue.SimpleQueue[_Message | None] = queue.SimpleQueue()
        self._ended, self._wire = ended, wire

    def run(self) -> None:
        while (message := self.waiting.get()) is not None:
            try:
                message.work.wait()
                nbytes = self._ended(message)
            except Exception as error:  # noqa: BLE001, whatever torch raises ends the transport
                self._wire.fail(error)
                return
            self._wire.complete(message.request, nbytes)


class _Wire:
    """What the callbacks of one rank's end work on."""

    def __init__(self, gloo: Any) -> None:
        self.gloo = gloo
        self.error: Exception | None = None
        self._requests = 0
        self._done: dict[int, int] = {}  # bytes by request
        self._changed = threading.Condition()
        self._lines: dict[tuple[str, int], _Line] = {}

    def send(self, peer: int, data: Any, nbytes: int) -> int:
        """The number of a new request. Copies the data: torch may still read it when another
        peer's failure has ended the transport."""
        sent = torch.empty(HEAD + nbytes, dtype=torch.uint8)
        sent[:HEAD].view(torch.int64).fill_(nbytes)
        if nbytes:
            sent[HEAD:] = _tensor(data, nbytes)
        return self._post("to", peer, self.gloo.send([sent], peer, TAG), sent, None)

    def receive(self, peer: int, data: Any, room: int) -> int:
        come = torch.empty(HEAD + room, dtype=torch.uint8)
        memory = _tensor(data, room) if room else come[:0]
        return self._post("from", peer, self.gloo.recv([come], peer, TAG), come, memory)

    def _post(self, way: str, peer: int, work: Any, wire: Any, memory: Any) -> int:
        line = self._lines.get((way, peer))
        if line is None:
            ended = self._sent if way == "to" else self._hand_over
            line = self._lines[way, peer] = _Line(f"thinwire-{way}-{peer}", ended, self)
            line.start()
        self._requests += 1
        line.waiting.put(_Message(self._requests, work, wire, memory))
        return self._requests

    def _sent(self, message: _Message) -> int:
        return message.wire.numel() - HEAD

    def _hand_over(self, message: _Message) -> int:
        """Once the transport has failed the library's memory may be gone."""
        nbytes = int(message.wire[:HEAD].view(torch.int64).item())
        if not 0 <= nbytes <= message.memory.numel():
            raise RuntimeError(f"{nbytes} bytes came, for {message.memory.numel()} there is room")
        with self._changed:
            if self.error is None and nbytes:
                message.memory[:nbytes].copy_(message.wire[HEAD : HEAD + nbytes])
        return nbytes

    def complete(self, request: int, nbytes: int) -> None:
        with self._changed:
            self._done[request] = nbytes
            self._changed.notify()

    def fail(self, error: Exception) -> None:
        with self._changed:
            self.error = self.error or error
            self._changed.notify()

    def take(self, request: int) -> int | None:
        """The bytes of a request that is complete, once."""
        with self._changed:
            return self._done.pop(request, None)

    def rest(self) -> None:
        """Returns when something is complete, or after a while."""
        with self._changed:
            if not self._done and self.error is None:
                self._changed.wait(IDLE_SECONDS)

    def end(self) -> None:
        """A thread that ends later than the program, in the middle of torch's code, aborts it: so
        those that can end are waited for."""
        for line in self._lines.values():
            line.waiting.put(None)
        for line in self._lines.values():
            if self.error is None and line is not threading.current_thread():
                line.join(timeout=END_SECONDS)


def over_companion(companion: Companion) -> Transport:
    """This rank's end of a companion. Not collective: it sends nothing."""
    library()
    wire = _Wire(companion.gloo)
    struct = new_struct("tw_transport")
    struct.rank, struct.ranks = companion.rank, companion.ranks
    callbacks = _callbacks(wire)
    for name, function in callbacks.items():
        setattr(struct, name, function)
    transport = Transport(struct, (callbacks, wire))
    return transport


def error_of(transport: Transport) -> Exception | None:
    """What torch said when the transport failed, if it has."""
    return transport.keeper[1].error  # type: ignore[index]


def _tensor(memory: Any, nbytes: int) -> Any:
    return torch.frombuffer(ffi.buffer(memory, nbytes), dtype=torch.uint8)


def _callbacks(wire: _Wire) -> dict[str, Any]:
    def post(start: Callable[..., int], request: Any, *what: Any) -> int:
        try:
            request[0] = start(*what)
        except Exception as error:  # noqa: BLE001, as above
            wire.fail(error)
            return FAILURE
        return 0

    def send(_: Any, peer: int, data: Any, nbytes: int, request: Any) -> int:
        return post(wire.send, request, peer, ffi.cast("void *", data), nbytes)

    def receive(_: Any, peer: int, data: Any, capacity: int, request: Any) -> int:
        return post(wire.receive, request, peer, data, capacity)

    def test(_: Any, count: int, requests: Any, places: Any, nbytes: Any, done: Any) -> int:
        found: deque[tuple[int, int]] = deque()
        for index in range(count):
            if (moved := wire.take(requests[index])) is not None:
                found.append((index, moved))
        for at, (index, moved) in enumerate(found):
            places[at], nbytes[at] = index, moved
        done[0] = len(found)
        return FAILURE if wire.error is not None and not found else 0

    def idle(_: Any) -> None:
        wire.rest()

    def release(_: Any) -> None:
        wire.end()

    kinds = dict(ffi.typeof(new_struct("tw_transport")).item.fields)
    made = {}
    for name, function in (("send", send), ("receive", receive), ("test", test)):
        made[name] = ffi.callback(kinds[name].type, function, error=FAILURE, onerror=keep)
    made["idle"] = ffi.callback(kinds["idle"].type, idle, onerror=keep)
    made["release"] = ffi.callback(kinds["release"].type, release)
    return made
