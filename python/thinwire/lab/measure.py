"""The payload rate that a plain TCP connection reaches through a lab's links."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import LabError

if TYPE_CHECKING:
    from .lab import Lab

_TRANSFER = Path(__file__).with_name("transfer.py")
_SECONDS = 0.5
_LARGEST_BYTES = 256 * 1024 * 1024
_LEAST_BURSTS = 8


def raw_rate(lab: "Lab") -> float:
    """Payload bits per second from host 0 to host 1, without headers; see `Lab.raw_rate`."""
    if lab.hosts < 2:
        raise LabError("the raw rate needs two hosts")
    filler = 2 * lab.link.burst_bytes
    size = _transfer_bytes(lab)
    address = lab.addresses()[1]
    program = [sys.executable, "-E", "-S", str(_TRANSFER)]
    sizes = [str(filler), str(size)]
    receiver = lab.popen(
        [*program, "receive", address, *sizes], host=1, stdout=subprocess.PIPE, text=True
    )
    with receiver:
        port = receiver.stdout.readline().strip()
        sender = lab.run([*program, "send", address, *sizes, port], host=0)
        if sender.returncode != 0:
            receiver.kill()
            raise LabError("the raw transfer could not be sent")
        answer, _ = receiver.communicate()
    if receiver.returncode != 0:
        raise LabError("the raw transfer was not received")
    result = json.loads(answer)
    if not result["intact"]:
        raise LabError("the raw transfer arrived damaged")
    return 8 * size / result["seconds"]


def _transfer_bytes(lab: "Lab") -> int:
    """Enough for half a second at the link's rate, and for the burst to be a small part of it."""
    if lab.link.bytes_per_second is None:
        return _LARGEST_BYTES
    wanted = max(lab.link.bytes_per_second * _SECONDS, _LEAST_BURSTS * lab.link.burst_bytes)
    return min(round(wanted), _LARGEST_BYTES)
