"""A lab as Python programs use it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import environments, launchers, measure, state
from . import gpus as gpu_devices
from .addresses import MOST_HOSTS, name_of
from .connection import Connection, connect, end_lab_process, start_lab_process
from .errors import LabError
from .measure import LabReport
from .shaping import parse_link

_ENTER = Path(__file__).with_name("enter.py")


class Lab:
    """Hosts on this machine, each with its own network and hostname, joined by shaped links.

    As a context manager it exists inside the `with`, and everything started in it ends with it,
    also when the calling process is killed. `Lab.attach` is the same over a lab that is up, which
    it leaves up. May be used from any thread, by one at a time.
    """

    def __init__(
        self,
        hosts: int = 2,
        link: str = "100mbit",
        ranks_per_host: int = 1,
        name: str = "lab",
        gpus: gpu_devices.Gpus | None = None,
    ) -> None:
        """Checks the settings (ValueError, LabError for the name); nothing is built yet.

        `link` is each host's rate in both directions, as in `12.5gbit`, or `none` for unshaped.
        `gpus` are those to deal out to the hosts, as CUDA_VISIBLE_DEVICES names them, or a
        sequence of them for each host: by default all that the caller's programs would see, if
        any; an empty sequence hides all of them.
        """
        if not 1 <= hosts <= MOST_HOSTS:
            raise ValueError(f"a lab has 1 to {MOST_HOSTS} hosts, not {hosts}")
        if ranks_per_host < 1:
            raise ValueError("a host has at least one rank")
        self.name = state.check_name(name)
        self.link = parse_link(link)
        self.hosts = hosts
        self.ranks_per_host = ranks_per_host
        given = gpu_devices.visible(os.environ) or None if gpus is None else gpus
        self._gpus = None if given is None else gpu_devices.deal(given, hosts)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._attached = False
        self._drops_before = 0

    @classmethod
    def attach(cls, name: str) -> Self:
        """The lab of that name that is up; LabError if there is none."""
        record = state.find(name)
        if record is None:
            raise LabError(f"no lab named {name!r} is up")
        lab = cls(record.hosts, record.link, record.ranks_per_host, record.name)
        lab._attached = True
        return lab

    def __enter__(self) -> Self:
        if self._attached:
            self._connection = connect(state.socket_path(self.name))
            self._drops_before = self._total_drops()
        else:
            self._process, self._connection = start_lab_process(self.options())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open_connection().close()
        self._connection = None
        if self._process is not None:
            process, self._process = self._process, None
            end_lab_process(process)

    def options(self) -> dict[str, Any]:
        """The settings as the lab's process takes them."""
        return {
            "name": self.name,
            "hosts": self.hosts,
            "link": self.link.text,
            "ranks_per_host": self.ranks_per_host,
            "folder": str(state.mount_point()),
            "environments": self._environments(),
        }

    def _environments(self) -> list[dict[str, str]]:
        """What the environment of each host's programs has of the host's own: its GPUs, and what
        NCCL, which has no use without any, calls the host."""
        if self._gpus is None:
            return [{}] * self.hosts
        return [
            gpu_devices.variables(gpus, os.environ) | environments.of_nccl(name_of(self.name, host))
            for host, gpus in enumerate(self._gpus)
        ]

    def host_names(self) -> list[str]:
        """The hostnames, which resolve inside the lab."""
        return [host["name"] for host in self._open_connection().description["hosts"]]

    def addresses(self) -> list[str]:
        """The hosts' IPv4 addresses."""
        return [host["address"] for host in self._open_connection().description["hosts"]]

    def keeps_order(self) -> bool:
        """Whether packets of a connection stay in order: Linux sees to it from 6.3 on."""
        return bool(self._open_connection().description["keeps_order"])

    def gpus(self) -> list[tuple[str, ...]]:
        """The GPUs of each host, as CUDA_VISIBLE_DEVICES names them there."""
        listed = [
            host["environment"].get(gpu_devices.VARIABLE, "")
            for host in self._open_connection().description["hosts"]
        ]
        return [tuple(names.split(",")) if names else () for names in listed]

    def run(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        host: int | None = None,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Runs a command in the lab and waits; `options` are those of `subprocess.run`.

        Without `host`, it runs on host 0 in `env` (default: this process's environment) with what
        spreads an MPI's ranks over the lab added. With `host`, it runs on that one in `env` as it
        is (default: the environment of a fresh login). Where the lab deals out GPUs, the host's
        own replace CUDA_VISIBLE_DEVICES in each of them.
        """
        words, environment = self.prepare(command, env, host)
        return subprocess.run(words, env=environment, **options)

    def popen(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        host: int | None = None,
        **options: Any,
    ) -> subprocess.Popen[Any]:
        """Starts a command like `run`, without waiting; the caller owns the process."""
        words, environment = self.prepare(command, env, host)
        return subprocess.Popen(words, env=environment, **options)

    def popen_everywhere(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        torchrun: bool = False,
        **options: Any,
    ) -> list[subprocess.Popen[Any]]:
        """Starts a command on every host at once, in `env` (default: this process's environment)
        with what tells NCCL the host; the caller owns the processes, which are in the order of
        ranks. As many on each host as it has ranks, each with RANK, WORLD_SIZE, LOCAL_RANK,
        MASTER_ADDR and MASTER_PORT. A `torchrun` is one process a host, and starts the ranks.
        """
        caller = dict(os.environ if env is None else env)
        first, count = self.addresses()[0], self.ranks_per_host
        started: list[subprocess.Popen[Any]] = []
        for host, (name, own) in enumerate(zip(self.host_names(), self.addresses(), strict=True)):
            places = [environments.of_torchrun(first, own, self.hosts, count, host)]
            if not torchrun:
                places = [
                    environments.of_rank(first, self.hosts, count, host, local)
                    for local in range(count)
                ]
            for place in places:
                environment = {**caller, **environments.of_nccl(name), **place}
                started.append(self.popen(command, env=environment, host=host, **options))
        return started

    def prepare(
        self,
        command: Sequence[str | os.PathLike[str]],
        env: Mapping[str, str] | None,
        host: int | None,
    ) -> tuple[list[str], dict[str, str]]:
        """The words and the environment with which `run` would start `command`."""
        description = self._open_connection().description
        if not 0 <= (host or 0) < self.hosts:
            raise ValueError(f"this lab has hosts 0 to {self.hosts - 1}, not {host}")
        held = description["hosts"][host or 0]
        if host is None:
            caller = os.environ if env is None else env
            environment = launchers.environment(
                description["launchers"], caller, held["environment"]
            )
        else:
            environment = {**(description["login"] if env is None else env), **held["environment"]}
        enter = [sys.executable, "-E", "-S", str(_ENTER), str(description["process"])]
        where = [str(held["net"]), str(held["uts"])]
        return [*enter, *where, *(os.fspath(word) for word in command)], environment

    def set_link(self, link: str) -> None:
        """Gives every link another rate while programs run; no packet is lost. ValueError for
        `none`: what waits in a bucket would be lost with it."""
        wanted = parse_link(link)
        if wanted.bytes_per_second is None:
            raise ValueError("a link that is changed has a rate: 'none' would drop what waits")
        self._open_connection().set_link(link)
        self.link = wanted
        if self._attached:
            state.note_link(self.name, link)

    def counters(self) -> list[dict[str, Any]]:
        """Bytes and drops at both ends of every link since the lab was built."""
        return self._open_connection().counters()

    def drops(self) -> int:
        """Packets lost anywhere in the lab since the `with` began. It must be 0."""
        return self._total_drops() - self._drops_before

    def raw_rate(self) -> float:
        """Payload bits per second that one TCP connection reaches from host 0 to host 1.

        Takes about half a second. The received bytes are compared; LabError if they differ.
        """
        return measure.raw_rate(self)

    def report(self, *, measure_rate: bool = False) -> LabReport:
        """The state of the links, with the raw rate if asked for."""
        rate = self.raw_rate() if measure_rate else None
        return LabReport(self.hosts, self.link.text, self.link.burst_bytes, self.drops(), rate)

    def _total_drops(self) -> int:
        return sum(row["queue_drops"] + row["device_drops"] for row in self.counters())

    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise LabError("this lab is not open: use it in a 'with'")
        return self._connection
