"""The network of the helpers is gone for a while, NCCL's is not: ranks are hosts of a lab, whose
libnccl of host memory goes by shared memory."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM

from thinwire.lab import Lab

pytestmark = [pytest.mark.multiproc, pytest.mark.alone]

# Changes a host's way to others. `astray`: messages that it sends them go to nobody, and those that
# they send arrive.
CHANGE = """
import sys
from pyroute2 import IPRoute
what, peers = sys.argv[1], sys.argv[2:]
with IPRoute() as netlink:
    link = netlink.link_lookup(ifname="tw0")[0]
    if what in ("up", "down"):
        netlink.link("set", index=link, state=what)
    for peer in peers:
        if what == "astray":
            nobody = "02:00:00:00:00:77"
            netlink.neigh("replace", dst=peer, lladdr=nobody, ifindex=link, state="permanent")
        elif what == "back":
            netlink.neigh("delete", dst=peer, ifindex=link)
        elif what.startswith("no "):
            netlink.route("del", dst=peer + "/32", type=what[3:])
        else:
            netlink.route("add", dst=peer + "/32", type=what)
"""

SETTINGS = {
    "LD_PRELOAD": str(SHIM),
    "THINWIRE_CODEC": "lossless:reductions=coded",
    "THINWIRE_THRESHOLD": "1KiB",
    # The lab's hosts have names of their own. Over such a link it pays.
    "FAKE_NCCL_RATE": "2e7",
}
LOST = " was lost "
NOT_COME = "has not come for "
# On a busy machine a step takes so long at the most.
LONGEST_STEP = 4.0
NOT_SMALLER = "calls of this kind did not get smaller"


class Job:
    """The program on every host."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.folder = folder
        own = {
            "THINWIRE_REPORT": str(folder / "report"),
            "RANKS": str(lab.hosts),
            "RANKS_FILE": str(folder / "id"),
        }
        words = [str(PROGRAMS / "nccl_outage"), str(folder)]
        self.ranks: list[Popen[str]] = lab.popen_everywhere(
            words, env=SETTINGS | own, stdout=PIPE, stderr=PIPE, text=True
        )

    def steps(self) -> list[float]:
        """When each ended."""
        path = self.folder / "steps"
        return [float(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []

    def go_on(self, count: int) -> None:
        """Until so many more steps are done."""
        wanted, end = len(self.steps()) + count, time.monotonic() + 120
        while len(self.steps()) < wanted:
            assert time.monotonic() < end, "no steps"
            assert all(each.poll() is None for each in self.ranks)
            time.sleep(0.1)

    def stop(self) -> list[str]:
        """What each rank has said of what is not as it should be."""
        (self.folder / "stop").touch()
        said = [each.communicate(timeout=120) for each in self.ranks]
        assert [output for output, _ in said] == ["ok\n"] * len(said), said
        return [errors for _, errors in said]

    def counted(self, rank: int, operation: str) -> dict:
        report = json.loads((self.folder / f"report.nccl.rank{rank}").read_text())
        return report["communicators"][0]["operations"][operation]


def change(lab: Lab, hosts: Sequence[int], what: str, peers: Sequence[str] = ()) -> None:
    for host in hosts:
        done = lab.run([sys.executable, "-c", CHANGE, what, *peers], host=host)
        assert done.returncode == 0


@contextmanager
def cut(lab: Lab, how: str, hosts: Sequence[int]) -> Iterator[None]:
    """Those hosts reach no other as long as it lasts."""
    others = [each for at, each in enumerate(lab.addresses()) if at not in hosts]
    undo = {"down": "up", "astray": "back"}.get(how, f"no {how}")
    peers = () if how == "down" else others
    change(lab, hosts, how, peers)
    yield
    change(lab, hosts, undo, peers)


def longest_pause(steps: list[float], begin: float, end: float) -> float:
    times = [begin, *(each for each in steps if begin < each < end), end]
    return max(after - before for before, after in zip(times, times[1:], strict=False))


def lines(said: list[str], what: str) -> list[int]:
    """How often each rank has said it; it says nothing else than that and that a link was lost."""
    for each in "".join(said).splitlines():
        assert each.startswith("thinwire: warning: ") and (LOST in each or NOT_COME in each)
    return [each.count(what) for each in said]


WAYS = ("astray", "unreachable", "blackhole", "prohibit")


def long(*case: object) -> object:
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.usefixtures("permitted")
@pytest.mark.parametrize(
    ("hosts", "how", "cut_off", "seconds"),
    [
        (2, "down", [0, 1], 8),
        long(2, "down", [0, 1], 60),
        long(4, "down", [0, 1, 2, 3], 60),
        long(4, "down", [3], 60),
        long(4, "down", [0], 60),
        *(long(2, how, [host], 35) for how in WAYS for host in (0, 1)),
    ],
)
def test_steps_go_on(
    hosts: int, how: str, cut_off: list[int], seconds: float, tmp_path: Path
) -> None:
    """As agreed: data do not change."""
    with Lab(hosts=hosts, link="1gbit") as lab:
        job = Job(lab, tmp_path)
        job.go_on(300)
        with cut(lab, how, cut_off):
            begin = time.monotonic()
            time.sleep(seconds)
            end = time.monotonic()
        job.go_on(50)
        said = job.stop()
    pause = longest_pause(job.steps(), begin, end)
    assert pause < LONGEST_STEP, f"no step for {pause:.1f} of {seconds} s"
    assert lines(said, NOT_COME) == [0] * hosts
    # TCP itself bridges what is shorter than 25 s.
    assert max(lines(said, LOST)) == (1 if seconds > 30 else 0)
    for rank in range(hosts):
        for operation in ("AllGather", "AllReduce", "Send"):
            figures = job.counted(rank, operation)
            assert figures["compressed_calls"] > figures["calls"] / 2
            assert figures["spilled_blocks"] == 0


@pytest.mark.usefixtures("permitted")
@pytest.mark.parametrize(("hosts", "seconds"), [(2, 8), long(2, 60), long(4, 60)])
def test_what_needs_the_helpers_waits_for_them(hosts: int, seconds: float, tmp_path: Path) -> None:
    """Data stop getting smaller meanwhile, so that blocks are carried by way of the hosts."""
    with Lab(hosts=hosts, link="1gbit") as lab:
        job = Job(lab, tmp_path)
        job.go_on(300)
        with cut(lab, "down", range(hosts)):
            (tmp_path / "noise").touch()
            time.sleep(seconds)
            waited = time.monotonic() - job.steps()[-1]
        job.go_on(50)
        (tmp_path / "noise").unlink()
        job.go_on(500)
        said = job.stop()
    assert waited > seconds / 2
    assert lines(said, NOT_COME) == [1] * hosts
    assert max(lines(said, LOST)) == (1 if seconds > 30 else 0)
    for rank in range(hosts):
        for operation in ("AllGather", "Send"):
            figures = job.counted(rank, operation)
            assert 0 < figures["spilled_blocks"] <= 3
            # 550 calls: raw while their data do not get smaller, and for some time after that.
            assert 45 < figures["raw_by_reason"][NOT_SMALLER] < 450


@pytest.mark.slow
@pytest.mark.usefixtures("permitted")
def test_a_link_that_comes_and_goes(tmp_path: Path) -> None:
    with Lab(hosts=2, link="1gbit") as lab:
        job = Job(lab, tmp_path)
        job.go_on(300)
        for times in range(10):
            with cut(lab, "down", [times % 2]):
                time.sleep(3)
            if times == 3:
                (tmp_path / "noise").touch()
            time.sleep(3)
        job.go_on(50)
        said = job.stop()
    assert max(lines(said, LOST)) <= 1
    for rank in range(2):
        assert 0 < job.counted(rank, "AllGather")["spilled_blocks"] <= 3
