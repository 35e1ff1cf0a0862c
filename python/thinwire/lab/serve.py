"""The holder's side of the conversation: one JSON object a line over Unix stream sockets."""

import json
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

COUNTERS = b"counters\n"
# From an owner that has written the lab down: it may now outlive its owner.
KEEP = b"keep\n"


def send(connection: socket.socket, message: Any) -> None:
    """Sends one message; a peer that has gone is not an error."""
    with suppress(OSError):
        connection.sendall(json.dumps(message).encode() + b"\n")


def serve(
    owner: socket.socket,
    listener: socket.socket | None,
    description: dict[str, Any],
    counters: Callable[[], Any],
) -> None:
    """Sends each connection the description and then, for each line it sends, the counters.

    Returns when the owner's connection closes, unless the owner said KEEP: then never.
    """
    kept = False
    selector = selectors.DefaultSelector()
    if listener is not None:
        selector.register(listener, selectors.EVENT_READ)
    selector.register(owner, selectors.EVENT_READ)
    send(owner, description)
    while True:
        for key, _ in selector.select():
            if listener is not None and key.fileobj is listener:
                connection, _ = listener.accept()
                selector.register(connection, selectors.EVENT_READ)
                send(connection, description)
                continue
            peer = cast(socket.socket, key.fileobj)
            request = _receive(peer)
            kept = kept or (peer is owner and request == KEEP)
            if request:
                send(peer, counters())
            elif peer is owner and not kept:
                return
            else:
                selector.unregister(peer)
                peer.close()


def _receive(connection: Any) -> bytes:
    """One request, for a peer waits for each answer; empty once the peer has gone."""
    try:
        return connection.recv(4096)
    except OSError:
        return b""
