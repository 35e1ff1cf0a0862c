"""How fast the network takes bytes, as the kernel sees it: what connections have had acknowledged,
by the time in which they had bytes under way (TCP_INFO of Linux). Time in which the receiver or
this process was the slow one is left out. Coding is not in it, so it holds for arrays that travel
compressed as for raw ones.
"""

import math
import socket
import struct
import threading
import weakref
from typing import Any

from distributed.comm.core import Comm

SAMPLE_MILLISECONDS = 50
# A window with less says little: it may have passed in a burst.
LEAST_WINDOW = 128 << 10
# So much must have been seen before a rate is believed, and so much back it remembers.
LEAST_SEEN, MEMORY = 1 << 20, 32 << 20

# linux/tcp.h: tcpi_bytes_acked; tcpi_busy_time, tcpi_rwnd_limited, tcpi_sndbuf_limited in us.
_ACKED, _BUSY, _ROOM = 120, 168, 192


class LinkRate:
    """A mean of what was observed lately, in bytes per second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes = self._seconds = self._seen = 0.0

    def observe(self, nbytes: float, seconds: float) -> None:
        with self._lock:
            fade = math.exp(-nbytes / MEMORY)
            self._bytes = self._bytes * fade + nbytes
            self._seconds = self._seconds * fade + seconds
            self._seen += nbytes

    @property
    def rate(self) -> float | None:
        """None until enough was seen."""
        with self._lock:
            if self._seen < LEAST_SEEN or self._seconds <= 0:
                return None
            return self._bytes / self._seconds


class Watch:
    """The rates of this process's connections, to other hosts and on its own."""

    def __init__(self) -> None:
        self.network, self.host = LinkRate(), LinkRate()
        self._before: weakref.WeakKeyDictionary[Any, tuple[int, float]] = (
            weakref.WeakKeyDictionary()
        )

    def sample(self) -> None:
        """To be called every SAMPLE_MILLISECONDS, on the event loop.

        Connections that are busy at once share the link: their bytes are added, and the time is
        that of the busiest. Where they took turns the rate comes out too high, and arrays go raw.
        """
        moved = {True: 0.0, False: 0.0}
        longest = {True: 0.0, False: 0.0}
        for comm in list(Comm._instances):
            found = _acknowledged(comm)
            if found is None:
                continue
            before = self._before.get(comm, (0, 0.0))
            self._before[comm] = found
            nbytes, seconds = found[0] - before[0], found[1] - before[1]
            if nbytes > 0 and seconds > 0:
                here = _same_host(comm)
                moved[here] += nbytes
                longest[here] = max(longest[here], seconds)
        for here, link in ((True, self.host), (False, self.network)):
            if moved[here] >= LEAST_WINDOW:
                link.observe(moved[here], longest[here])


watch = Watch()


def _acknowledged(comm: Any) -> tuple[int, float] | None:
    """Bytes since the connection began, and seconds; None if the kernel does not say."""
    connection = getattr(getattr(comm, "stream", None), "socket", None)
    if connection is None:
        return None
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ROOM)
    except (OSError, ValueError):
        return None
    if len(info) < _ROOM:
        return None
    (acked,) = struct.unpack_from("=Q", info, _ACKED)
    busy, receiver, sender = struct.unpack_from("=3Q", info, _BUSY)
    return acked, max(busy - receiver - sender, busy // 20) / 1e6


def _same_host(comm: Any) -> bool:
    try:
        return bool(comm.same_host)
    except (OSError, ValueError):
        return True
