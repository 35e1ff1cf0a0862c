"""The lab's network: one bridge, and for each host a veth pair shaped at both ends.

Runs in the lab's process, whose own network namespace is the lab's private one: the bridge and the
bridge ends of the links live there, so the machine's interfaces and routes are never touched.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from .addresses import INTERFACE, PREFIX_LENGTH, address_of, name_of
from .namespaces import CLONE_NEWNET, CLONE_NEWUTS, setns, unshare
from .shaping import LARGEST_BUFFER_BYTES, Link, read_counters, shape

_BRIDGE = "bridge"

STEERING = Path("/proc/sys/net/core/rps_default_mask")


@dataclass(frozen=True)
class Host:
    """A host: its name, its address, and the lab's process's descriptors of its two namespaces."""

    name: str
    address: str
    net: int
    uts: int


class Network:
    """The bridge, the hosts and their links, in the calling process's network namespace."""

    def __init__(self, name: str, hosts: int, link: Link) -> None:
        self._link = link
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY)
        _without_ipv6()
        self.keeps_order = _keep_order()
        with IPRoute() as netlink:
            netlink.link("add", ifname=_BRIDGE, kind="bridge", br_mcast_snooping=0)
            bridge = netlink.link_lookup(ifname=_BRIDGE)[0]
            netlink.link("set", index=bridge, state="up")
        self.hosts = [self._add_host(name_of(name, i), i, bridge) for i in range(hosts)]

    def counters(self) -> list[dict[str, Any]]:
        """The counters of both ends of every link, each with its host's name."""
        rows = []
        for host in self.hosts:
            with self._inside(host.net), IPRoute() as netlink:
                rows += [{"host": host.name, **row} for row in read_counters(netlink)]
        with IPRoute() as netlink:
            ends = {f"port{i}": host.name for i, host in enumerate(self.hosts)}
            for row in read_counters(netlink):
                rows.append({"host": ends.get(row["interface"], ""), **row})
        return rows

    def set_link(self, link: Link) -> None:
        """Shapes both ends of every link anew, the bridge's first; nothing is lost."""
        with IPRoute() as netlink:
            for number in range(len(self.hosts)):
                shape(netlink, netlink.link_lookup(ifname=f"port{number}")[0], link)
        for host in self.hosts:
            with self._inside(host.net), IPRoute() as netlink:
                shape(netlink, netlink.link_lookup(ifname=INTERFACE)[0], link)

    def _add_host(self, name: str, index: int, bridge: int) -> Host:
        unshare(CLONE_NEWNET | CLONE_NEWUTS, "new network namespace of a host")
        socket.sethostname(name)
        _without_ipv6()
        self.keeps_order &= _keep_order()
        net = os.open("/proc/self/ns/net", os.O_RDONLY)
        uts = os.open("/proc/self/ns/uts", os.O_RDONLY)
        setns(self._home, "return to the lab's network")
        host = Host(name, address_of(index), net, uts)
        self._add_port(f"port{index}", net, bridge)
        with self._inside(net), IPRoute() as netlink:
            self._set_up_interface(netlink, host.address)
        return host

    def _add_port(self, port: str, net: int, bridge: int) -> None:
        with IPRoute() as netlink:
            peer = {"ifname": INTERFACE, "net_ns_fd": net}
            netlink.link("add", ifname=port, kind="veth", peer=peer)
            index = netlink.link_lookup(ifname=port)[0]
            shape(netlink, index, self._link)
            netlink.link("set", index=index, master=bridge, state="up")

    def _set_up_interface(self, netlink: IPRoute, address: str) -> None:
        netlink.link("set", index=netlink.link_lookup(ifname="lo")[0], state="up")
        index = netlink.link_lookup(ifname=INTERFACE)[0]
        shape(netlink, index, self._link)
        netlink.link("set", index=index, gso_max_size=LARGEST_BUFFER_BYTES, state="up")
        netlink.addr("add", index=index, address=address, prefixlen=PREFIX_LENGTH)

    @contextmanager
    def _inside(self, net: int) -> Iterator[None]:
        setns(net, "enter a host's network")
        try:
            yield
        finally:
            setns(self._home, "return to the lab's network")


def _keep_order() -> bool:
    """Has one processor receive all packets of a connection, on later interfaces of this namespace.

    Those that send take turns at the bucket, and a veth leaves what it sends to the processor that
    it is sent on: packets overtake each other, and TCP takes that for loss and sends less. False
    where that cannot be said to the kernel, as before Linux 6.3.
    """
    try:
        STEERING.write_text(processor_mask(os.cpu_count() or 1))
    except OSError:
        return False
    return True


def processor_mask(processors: int) -> str:
    """All of so many, as the kernel reads it: words of 32 bits, the highest first."""
    words = [min(32, processors - first) for first in range(0, processors, 32)]
    return ",".join(f"{(1 << bits) - 1:x}" for bits in reversed(words))


def _without_ipv6() -> None:
    """Keeps later interfaces of this namespace from speaking IPv6.

    Its neighbour discovery would be traffic on the links that no program sent. Where /proc/sys
    cannot be written that noise stays; nothing else depends on it.
    """
    with suppress(OSError):
        Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
