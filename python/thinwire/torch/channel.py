"""A group's second way beside torch's own: compressed collectives over a companion group."""

import os
import queue
import threading
from collections.abc import Callable
from typing import Any

import torch

from thinwire.comm import Communicator
from thinwire.torch.companion import Companion, compare
from thinwire.torch.guard import Guard
from thinwire.torch.setting import Setting, compared
from thinwire.torch.transport import error_of, over_companion


class Channel:
    """One for a process group and the terms on which its ranks exchange (link, nodes).

    All of its calls run one after the other on a thread of its own, in the order of `submit`,
    which must be the same on all ranks. Making one is collective over the group.
    """

    def __init__(self, group: Any, name: str, setting: Setting) -> None:
        self.name = name
        # A group of its own, so that what it carries never meets what the program sends.
        self.companion = Companion(group)
        # Nobody has compared the environment's policy yet.
        compare([self.companion], compared(setting), None)
        nodes = _nodes(self.companion)
        self.is_one_node = len(set(nodes)) == 1
        transport = over_companion(self.companion)
        self._error = lambda: error_of(transport)
        self.communicator = Communicator(
            transport,
            codec="off",
            threshold=0,
            link=setting.link or None,
            nodes=None if setting.same_node else nodes,
        )
        self._guards: dict[Setting, Guard] = {}
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"thinwire-{name}", daemon=True)
        self._thread.start()

    def submit(self, what: str, task: Callable[[], Any], device: Any = None) -> Any:
        """A torch Future of what `task` returns, which the channel's thread runs after what was
        submitted before, and after the work of the current stream of `device`, if that is a GPU.
        Where it fails the Future raises RuntimeError, which names `what`."""
        on_gpu = device is not None and device.type == "cuda"
        future = torch.futures.Future(devices=[device]) if on_gpu else torch.futures.Future()
        ready = torch.cuda.current_stream(device).record_event() if on_gpu else None

        def run() -> None:
            try:
                if ready is not None:
                    ready.synchronize()
                result = task()
            except Exception as error:  # noqa: BLE001, it belongs to whoever waits
                future.set_exception(self._in_words(what, error))
                return
            future.set_result(result)

        self._tasks.put(run)
        return future

    def guard(self, setting: Setting) -> Guard:
        """Of the calls under this setting."""
        if setting not in self._guards:
            self._guards[setting] = Guard(self.name, self._largest)
        return self._guards[setting]

    def _largest(self, numbers: list[float]) -> list[float]:
        """Over all ranks, each; collective, after the calls that were submitted before."""

        def task() -> list[float]:
            return self.companion.largest(numbers)

        found: list[float] = self.submit("the guard", task).wait()
        return found

    def _in_words(self, what: str, error: Exception) -> RuntimeError:
        cause = self._error()
        words = f"{error}: {cause}" if cause is not None else str(error)
        return RuntimeError(f"thinwire.torch: {what} on group {self.name}: {words}")

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            del task

    def close(self) -> None:
        """Not while a call is under way."""
        self._tasks.put(None)
        self._thread.join(timeout=10)
        if not self._thread.is_alive():
            self.communicator.close()


def _nodes(companion: Companion) -> list[int]:
    """A number for each rank, equal for ranks of one host."""
    names = companion.gather(os.uname().nodename)
    return [names.index(name) for name in names]


# By group and terms, until close().
_channels: dict[Any, dict[tuple[float, bool], Channel]] = {}

# Functions that close() calls, too.
at_close: list[Callable[[], None]] = []


def channel_of(group: Any, name: str, setting: Setting) -> Channel:
    """The group's channel under these terms, made at the first call: collective then."""
    of_group = _channels.setdefault(group, {})
    terms = (setting.link, setting.same_node)
    if terms not in of_group:
        of_group[terms] = Channel(group, name, setting)
    return of_group[terms]


def close() -> None:
    """Ends the threads and the memory of all hooks and of `sync_weights`. Call it before
    `torch.distributed.destroy_process_group()`, with no backward pass under way; hooks that run
    later begin anew, collectively."""
    for of_group in list(_channels.values()):
        for channel in of_group.values():
            channel.close()
    _channels.clear()
    for end in at_close:
        end()
