"""What is known of a lab's links after a run, and the payload rate that a plain TCP connection
reaches through them."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .errors import LabError
from .shaping import Link

_TRANSFER = Path(__file__).with_name("transfer.py")
_SECONDS = 0.5
_LARGEST_BYTES = 256 * 1024 * 1024
_LEAST_BURSTS = 8


@dataclass(frozen=True)
class LabReport:
    """The links of a lab after a run.

    `burst_bytes` is what a token bucket lets through at full speed after a pause (0: unshaped),
    `drops` counts the packets lost since the lab was entered, and `raw_bits_per_second` is the
    payload rate that a plain TCP transfer reached (None: not measured). Figures taken while
    `drops` is not 0 are void.
    """

    hosts: int
    link: str
    burst_bytes: int
    drops: int
    raw_bits_per_second: float | None = None


class Hosts(Protocol):
    """What is measured: a `Lab`, as far as it matters here."""

    hosts: int
    link: Link

    def addresses(self) -> Sequence[str]: ...
    def popen(
        self, command: Sequence[str], *, host: int, **options: Any
    ) -> subprocess.Popen[str]: ...
    def run(self, command: Sequence[str], *, host: int) -> subprocess.CompletedProcess[Any]: ...


def raw_rate(lab: Hosts) -> float:
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
        assert receiver.stdout is not None
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


def _transfer_bytes(lab: Hosts) -> int:
    """Enough for half a second at the link's rate, and for the burst to be a small part of it."""
    if lab.link.bytes_per_second is None:
        return _LARGEST_BYTES
    wanted = max(lab.link.bytes_per_second * _SECONDS, _LEAST_BURSTS * lab.link.burst_bytes)
    return min(round(wanted), _LARGEST_BYTES)
