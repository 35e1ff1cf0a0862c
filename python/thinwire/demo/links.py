"""Where a run takes place: two hosts of the lab joined by a slow link, or this host's loopback."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Protocol

from ..lab import Lab, LabUnavailable

RATES = ("100mbit", "1gbit")
GPU_RATES = ("10gbit", "25gbit")
RUN_OPTIONS: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 300}

# Over a single TCP connection Open MPI's control message for a peer's transfer waits for the
# rank's own bulk data, so the two directions of a halo exchange take turns and the raw run needs
# almost twice the time. A second connection makes the link full duplex, for every case alike.
FULL_DUPLEX = {"OMPI_MCA_btl_tcp_links": "2"}


class Link(Protocol):
    """A place where `mpirun -n 2` puts one rank at either end."""

    name: str
    same_node: bool  # both ranks on one host, where the shim compresses only when told to

    def run(self, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]: ...

    def raw_rate(self) -> float | None:
        """Bytes per second that the bare link carries one way, measured now; None if it has no
        rate of its own."""

    def facts(self) -> dict[str, int]:
        """What a reader needs to judge the link: burst_bytes and drops of its token bucket."""


class Loopback:
    """Both ranks on this host: nothing to win here, but every path runs and is verified."""

    name = "loopback"
    same_node = True

    def run(self, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        settings = {**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1", **env}
        if os.geteuid() == 0:
            settings |= {
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            }
        return subprocess.run(command, env=settings, **RUN_OPTIONS)

    def raw_rate(self) -> float | None:
        return None

    def facts(self) -> dict[str, int]:
        return {}


class LabLink:
    """Two hosts of a running lab."""

    same_node = False

    def __init__(self, name: str, lab: Lab) -> None:
        self.name = name
        self._lab = lab

    def run(self, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return self._lab.run(command, env={**FULL_DUPLEX, **os.environ, **env}, **RUN_OPTIONS)

    def raw_rate(self) -> float | None:
        return self._lab.raw_rate() / 8

    def facts(self) -> dict[str, int]:
        report = self._lab.report()
        return {"burst_bytes": report.burst_bytes, "drops": report.drops}


def each_link(rates: tuple[str, ...], notify: Callable[[str], None]) -> Iterator[Link]:
    """One link after another, each open until the next is asked for; the loopback alone where this
    machine allows no lab, after telling `notify` why."""
    for rate in rates:
        with ExitStack() as stack:
            try:
                lab = stack.enter_context(Lab(hosts=2, link=rate, ranks_per_host=1))
            except LabUnavailable as error:
                notify(f"No lab on this machine ({error}): running on loopback instead.")
                yield Loopback()
                return
            yield LabLink(rate, lab)
