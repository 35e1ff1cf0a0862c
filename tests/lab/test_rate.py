"""The links carry what they say, lose nothing, and would say so if they did."""

import subprocess
import sys
import threading

import pytest
from lab_helpers import best_rate

from thinwire.lab import Lab
from thinwire.lab.measure import raw_rate
from thinwire.lab.network import STEERING, processor_mask
from thinwire.lab.shaping import parse_link

FLOOD = """
import socket
from pyroute2 import IPRoute
with IPRoute() as netlink:
    link = netlink.link_lookup(ifname="tw0")[0]
    netlink.tc("change", "tbf", index=link, handle="1:", rate=1000000, burst=65536, limit=3000)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    for _ in range(500):
        sender.sendto(bytes(1400), ("10.77.0.2", 9))
"""


# Both ways at once, on two connections, for so many seconds; prints TCP's recoveries.
BOTH_WAYS = """
import re, socket, sys, threading, time
def recoveries():
    names, values = (line.split() for line in open("/proc/net/netstat").readlines()[:2])
    return int(dict(zip(names, values))["TCPSackRecovery"])
def send(connection):
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        connection.sendall(bytes(1 << 20))
    connection.shutdown(socket.SHUT_WR)
def receive(connection):
    while connection.recv(1 << 20):
        pass
connections = []
if socket.gethostname().endswith("-0"):
    with socket.create_server(("", 7712)) as server:
        connections = [server.accept()[0] for _ in range(2)]
while len(connections) < 2:
    try:
        connections.append(socket.create_connection(("10.77.0.1", 7712)))
    except ConnectionRefusedError:
        time.sleep(0.1)
before = recoveries()
ways = [(way, each) for each in connections for way in (send, receive)]
threads = [threading.Thread(target=way, args=(each,)) for way, each in ways]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(recoveries() - before)
"""


def reported_rate(lab: Lab) -> float:
    rate = lab.report(measure_rate=True).raw_bits_per_second
    assert rate is not None
    return rate


@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
@pytest.mark.parametrize(("link", "bits_per_second"), [("100mbit", 100e6), ("1gbit", 1e9)])
def test_rate_is_reached_without_drops(link: str, bits_per_second: float) -> None:
    with Lab(hosts=2, link=link) as lab:
        best = best_rate(lambda: reported_rate(lab), least=0.9 * bits_per_second)
        report = lab.report()
    assert report.burst_bytes == 65536
    assert report.drops == 0
    assert best == pytest.approx(bits_per_second, rel=0.1)


@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
def test_unshaped_is_faster_than_a_shaped_link() -> None:
    with Lab(hosts=2, link="none") as lab:
        best = best_rate(lambda: reported_rate(lab), least=1.5e9)
        report = lab.report()
    assert report.drops == 0
    assert report.burst_bytes == 0
    assert best > 1.5e9


@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
def test_packets_do_not_overtake_each_other() -> None:
    with Lab(hosts=2, link="10gbit") as lab:
        if not STEERING.exists():
            pytest.skip(f"this kernel has no {STEERING}")
        assert lab.keeps_order()
        command = [sys.executable, "-c", BOTH_WAYS, "3"]
        both = lab.popen_everywhere(command, stdout=subprocess.PIPE)
        assert [process.communicate(timeout=60)[0].strip() for process in both] == [b"0", b"0"]


@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
@pytest.mark.parametrize(
    ("processors", "mask"),
    [
        (1, "1"),
        (2, "3"),
        (32, "ffffffff"),
        (33, "1,ffffffff"),
        (64, "ffffffff,ffffffff"),
        (100, "f,ffffffff,ffffffff,ffffffff"),
    ],
)
def test_the_kernel_is_told_of_all_processors(processors: int, mask: str) -> None:
    assert processor_mask(processors) == mask


@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
def test_several_connections_share_the_link_without_drops() -> None:
    with Lab(hosts=2, link="1gbit") as lab:
        rates: list[float] = []
        threads = [threading.Thread(target=lambda: rates.append(raw_rate(lab))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert lab.drops() == 0
    assert len(rates) == 4
    assert min(rates) < 0.6e9


# A transfer's size is of the rate before: at a tenth or less of it, it takes long.
@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
@pytest.mark.parametrize(("before", "after"), [("1gbit", 200e6), ("50mbit", 1e9), ("none", 400e6)])
def test_a_link_changes_under_a_transfer_without_drops(before: str, after: float) -> None:
    with Lab(hosts=2, link=before) as lab:
        transfer = threading.Thread(target=lambda: raw_rate(lab))
        transfer.start()
        lab.set_link(f"{after / 1e6:.0f}mbit")
        transfer.join()
        best = best_rate(lambda: reported_rate(lab), least=0.9 * after)
        report = lab.report()
    assert report.drops == 0
    assert report.link == f"{after / 1e6:.0f}mbit"
    assert best == pytest.approx(after, rel=0.1)


@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
def test_a_bucket_is_not_taken_away() -> None:
    with Lab(hosts=2, link="1gbit") as lab, pytest.raises(ValueError, match="has a rate"):
        lab.set_link("none")


@pytest.mark.alone
@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
def test_drops_are_counted() -> None:
    with Lab(hosts=2, link="100mbit") as lab:
        lab.run([sys.executable, "-c", FLOOD], host=0, check=True)
        assert lab.drops() > 0


@pytest.mark.parametrize(
    ("text", "bytes_per_second"),
    [("8kbit", 1e3), ("100mbit", 12.5e6), ("1gbit", 125e6), ("12.5gbit", 1562.5e6)],
)
def test_rates_are_decimal_bits(text: str, bytes_per_second: float) -> None:
    assert parse_link(text).bytes_per_second == bytes_per_second


@pytest.mark.parametrize(
    ("text", "burst"),
    [("100mbit", 65536), ("5gbit", 65536), ("10gbit", 125_000), ("25gbit", 312_500), ("none", 0)],
)
def test_burst_is_100_us_and_at_least_64_kib(text: str, burst: int) -> None:
    assert parse_link(text).burst_bytes == burst


@pytest.mark.parametrize("text", ["", "100", "1Gbit", "-1gbit", "1e9bit", "35gbit", "1kbit"])
def test_other_spellings_and_rates_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="link"):
        parse_link(text)
