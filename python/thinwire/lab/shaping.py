"""The token bucket of a link: its rate, its burst, its queue, and what it dropped."""

import re
from dataclasses import dataclass
from typing import Any

_RATE = re.compile(r"(\d+(?:\.\d+)?)(kbit|mbit|gbit)")
_BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}

# The rate field of tbf has 32 bits of bytes per second.
_MOST_BYTES_PER_SECOND = 2**32 - 1

MINIMUM_BURST_BYTES = 64 * 1024
BURST_SECONDS = 100e-6

# The kernel hands TCP segments to a veth in one buffer of up to 64 KiB plus headers. One larger
# than the burst would be cut up inside tbf, so buffers are kept below the smallest burst.
LARGEST_BUFFER_BYTES = 60 * 1024

# No queue may overflow, because loss would make TCP's recovery part of every figure. TCP bounds
# what it has in flight by its socket buffers (6 MiB a connection by default), so this holds some
# forty connections into one host. It is a limit, not a reservation.
QUEUE_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Link:
    """One host's link: its spelling, and its rate in bytes per second (None: unshaped)."""

    text: str
    bytes_per_second: float | None

    @property
    def burst_bytes(self) -> int:
        """What may pass at once after a pause: 64 KiB, or 100 us at the rate; 0 if unshaped."""
        if self.bytes_per_second is None:
            return 0
        return max(MINIMUM_BURST_BYTES, round(self.bytes_per_second * BURST_SECONDS))


def parse_link(text: str) -> Link:
    """Reads `100mbit`, `1gbit`, `12.5gbit` or `none`; ValueError for anything else."""
    if text == "none":
        return Link(text, None)
    match = _RATE.fullmatch(text)
    if match is None:
        raise ValueError(f"link {text!r} is not a rate such as 100mbit or 12.5gbit, nor 'none'")
    rate = float(match[1]) * _BITS[match[2]] / 8
    if not 1000 <= rate <= _MOST_BYTES_PER_SECOND:
        raise ValueError(f"link {text!r} is outside 8kbit to 34gbit; 'none' is unshaped")
    return Link(text, rate)


def shape(netlink: Any, index: int, link: Link) -> None:
    """Shapes what the interface `index` sends; `netlink` is an IPRoute of its namespace.

    One that is shaped already gets the new rate and keeps what waits in its queue.
    """
    if link.bytes_per_second is None:
        return
    netlink.tc(
        "replace",
        "tbf",
        index=index,
        handle="1:",
        rate=round(link.bytes_per_second),
        burst=link.burst_bytes,
        limit=QUEUE_BYTES,
    )


def read_counters(netlink: Any) -> list[dict[str, Any]]:
    """Counters of every interface of a namespace but loopback.

    `queue_drops` is what all its queues refused, `device_drops` what the interface itself lost in
    either direction; `sent_bytes` and `received_bytes` include the Ethernet headers.
    """
    refused: dict[int, int] = {}
    for queue in netlink.get_qdiscs():
        statistics = queue.get_attr("TCA_STATS2")
        drops = statistics.get_attr("TCA_STATS_QUEUE")["drops"]
        refused[queue["index"]] = refused.get(queue["index"], 0) + drops
    rows = []
    for interface in netlink.get_links():
        if interface.get_attr("IFLA_IFNAME") == "lo":
            continue
        statistics = interface.get_attr("IFLA_STATS64")
        rows.append(
            {
                "interface": interface.get_attr("IFLA_IFNAME"),
                "queue_drops": refused.get(interface["index"], 0),
                "device_drops": statistics["rx_dropped"] + statistics["tx_dropped"],
                "sent_bytes": statistics["tx_bytes"],
                "received_bytes": statistics["rx_bytes"],
            }
        )
    return rows
