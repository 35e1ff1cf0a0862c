"""A transport over a process group of torch: frames travel as tensors of bytes, by its send and
recv.

A message is two of torch's: 8 bytes with the length, and the bytes, since torch's receiver must
know the length and never learns it. Torch's requests can be waited for but not polled, so each
peer has a thread for either direction, made at the first message.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from thinwire.comm import Transport
from thinwire.library import ffi, library, new_struct

TAG = 0x7457
FAILURE = 8  # TW_INTERNAL
END_SECONDS = 5.0  # for threads that have nothing left to do
IDLE_SECONDS = 0.001  # how long a waiting rank sleeps; what arrives wakes it sooner


@dataclass
class _Message:
    request: int
    memory: Any  # a uint8 tensor: a copy of what is sent, or the library's memory; None if empty
    room: int


class _Line(threading.Thread):
    """The messages to, or from, one peer, in order."""

    def __init__(self, name: str, move: Callable[[_Message], int], wire: "_Wire") -> None:
        super().__init__(name=name, daemon=True)
        self.waiting: queue.SimpleQueue[_Message | None] = queue.SimpleQueue()
        self._move, self._wire = move, wire

    def run(self) -> None:
        while (message := self.waiting.get()) is not None:
            try:
                moved = self._move(message)
            except Exception as error:  # noqa: BLE001, whatever torch raises ends the transport
                self._wire.fail(error)
                return
            self._wire.complete(message.request, moved)


class _Wire:
    """What the callbacks of one rank's end work on."""

    def __init__(self, group: Any) -> None:
        self.group = group
        self.error: Exception | None = None
        self._requests = 0
        self._done: dict[int, int] = {}  # bytes by request
        self._changed = threading.Condition()
        self._lines: dict[tuple[str, int], _Line] = {}

    def start(self, way: str, peer: int, memory: Any, room: int) -> int:
        """The number of a new request."""
        line = self._lines.get((way, peer))
        if line is None:
            move = (self._send if way == "to" else self._receive)(peer)
            line = self._lines[way, peer] = _Line(f"thinwire-{way}-{peer}", move, self)
            line.start()
        self._requests += 1
        line.waiting.put(_Message(self._requests, memory, room))
        return self._requests

    def _send(self, peer: int) -> Callable[[_Message], int]:
        def move(message: _Message) -> int:
            works = [self.group.send([torch.tensor([message.room])], peer, TAG)]
            if message.room:
                works.append(self.group.send([message.memory], peer, TAG))
            for work in works:
                work.wait()
            return message.room

        return move

    def _receive(self, peer: int) -> Callable[[_Message], int]:
        def move(message: _Message) -> int:
            length = torch.empty(1, dtype=torch.int64)
            self.group.recv([length], peer, TAG).wait()
            nbytes = int(length.item())
            if not 0 <= nbytes <= message.room:
                raise RuntimeError(f"{nbytes} bytes came, where there is room for {message.room}")
            if nbytes:
                come = torch.empty(nbytes, dtype=torch.uint8)
                self.group.recv([come], peer, TAG).wait()
                self._hand_over(message, come)
            return nbytes

        return move

    def _hand_over(self, message: _Message, come: Any) -> None:
        """Once the transport has failed the library's memory may be gone."""
        with self._changed:
            if self.error is None:
                message.memory[: come.numel()].copy_(come)

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


def over_group(group: Any) -> Transport:
    """This rank's end of a process group whose backend carries tensors of host memory (gloo), and
    which nothing else uses. Not collective: it sends nothing."""
    library()
    wire = _Wire(group)
    struct = new_struct("tw_transport")
    struct.rank, struct.ranks = dist.get_rank(group), dist.get_world_size(group)
    callbacks = _callbacks(wire)
    for name, function in callbacks.items():
        setattr(struct, name, function)
    transport = Transport(struct, (callbacks, wire))
    return transport


def error_of(transport: Transport) -> Exception | None:
    """What torch said when the transport failed, if it has."""
    return transport.keeper[1].error  # type: ignore[index]


def _tensor(memory: Any, nbytes: int) -> Any:
    return torch.frombuffer(ffi.buffer(memory, nbytes), dtype=torch.uint8) if nbytes else None


def _callbacks(wire: _Wire) -> dict[str, Any]:
    def send(_: Any, peer: int, data: Any, nbytes: int, request: Any) -> int:
        # A copy: torch may still read it when another peer's failure has ended the transport.
        sent = _tensor(ffi.cast("void *", data), nbytes)
        request[0] = wire.start("to", peer, None if sent is None else sent.clone(), nbytes)
        return 0

    def receive(_: Any, peer: int, data: Any, capacity: int, request: Any) -> int:
        request[0] = wire.start("from", peer, _tensor(data, capacity), capacity)
        return 0

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
        made[name] = ffi.callback(kinds[name].type, function, error=FAILURE)
    made["idle"] = ffi.callback(kinds["idle"].type, idle)
    made["release"] = ffi.callback(kinds["release"].type, release)
    return made
