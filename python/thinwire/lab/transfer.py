"""One end of the transfer of `Lab.raw_rate`: plain TCP, timed and checked by the receiver.

    transfer receive ADDRESS FILLER SIZE          prints its port, later JSON with the seconds
    transfer send    ADDRESS FILLER SIZE PORT

FILLER bytes go first, untimed, to use up what the token buckets had saved for a burst.
"""

import json
import random
import socket
import sys
import time

# The length of a block that is repeated; no buffer's length is a multiple of it, so that parts in
# the wrong order would show.
_BLOCK_BYTES = 65521
_SEED = 20261


def payload(size: int) -> bytes:
    """The `size` bytes that both ends know."""
    block = random.Random(_SEED).randbytes(_BLOCK_BYTES)
    return (block * (size // _BLOCK_BYTES + 1))[:size]


def receive_into(connection: socket.socket, buffer: bytearray) -> None:
    """Fills the buffer, and reads not one byte more."""
    view = memoryview(buffer)
    while view:
        count = connection.recv_into(view)
        if count == 0:
            raise ConnectionError("the sender has gone")
        view = view[count:]


def receive(address: str, filler: int, size: int) -> None:
    # Written to, so that no page fault falls into the time.
    first, rest = bytearray(b"-" * filler), bytearray(b"-" * size)
    with socket.create_server((address, 0)) as server:
        print(server.getsockname()[1], flush=True)
        connection, _ = server.accept()
        with connection:
            receive_into(connection, first)
            begin = time.perf_counter()
            receive_into(connection, rest)
            seconds = time.perf_counter() - begin
    intact = bytes(first) + bytes(rest) == payload(filler + size)
    print(json.dumps({"seconds": seconds, "intact": intact}), flush=True)


def send(address: str, filler: int, size: int, port: int) -> None:
    data = payload(filler + size)
    with socket.create_connection((address, port)) as connection:
        connection.sendall(data)


if __name__ == "__main__":
    _, role, address, *numbers = sys.argv
    (receive if role == "receive" else send)(address, *map(int, numbers))
