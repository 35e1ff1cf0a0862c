"""The lab's side of the conversation: one JSON object a line over Unix stream sockets."""

import json
import selectors
import socket
from contextlib import suppress
from typing import Any, Protocol, cast

from .shaping import Link, parse_link

COUNTERS = b"counters\n"
# From an owner that has written the lab down: it may now outlive its owner.
KEEP = b"keep\n"
# And, after it, a rate that has been checked.
SET_LINK = b"set-link "


class Links(Protocol):
    """What requests ask of the lab's network."""

    def counters(self) -> list[dict[str, Any]]: ...
    def set_link(self, link: Link) -> None: ...


def send(connection: socket.socket, message: Any) -> None:
    """Sends one message; a peer that has gone is not an error."""
    with suppress(OSError):
        connection.sendall(json.dumps(message).encode() + b"\n")


def serve(
    owner: socket.socket,
    listener: socket.socket | None,
    description: dict[str, Any],
    links: Links,
) -> None:
    """Sends each connection the description and then, for each line it sends, the counters; if
    the line has a rate, once the links have it.

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
                send(peer, _answer(request, links))
            elif peer is owner and not kept:
                return
            else:
                selector.unregister(peer)
                peer.close()


def _answer(request: bytes, links: Links) -> Any:
    try:
        if request.startswith(SET_LINK):
            links.set_link(parse_link(request.removeprefix(SET_LINK).decode().strip()))
        return links.counters()
    except Exception as error:  # netlink's own are no OSError; the lab goes on
        return {"failed": f"the links cannot be changed or read: {error}"}


def _receive(connection: Any) -> bytes:
    """One request, for a peer waits for each answer; empty once the peer has gone."""
    try:
        return connection.recv(4096)
    except OSError:
        return b""
