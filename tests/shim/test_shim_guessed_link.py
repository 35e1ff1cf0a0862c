"""Where the rate of a link is only guessed, from what an interface says, nothing is compressed that
nobody times beside raw. The interface is a folder in the place of the system's, and two ranks of
one machine count as two nodes, or hosts of the lab have connections whose counters the kernel does
not give: nothing measures a rate."""

import shutil
import subprocess
from pathlib import Path

import pytest
from mpis import ALL, BUILD, OTHERS, SYSTEM, Mpi
from shim_runs import Run, over_hosts, preloaded, run

from thinwire.lab import Lab, LabUnavailable

pytestmark = pytest.mark.multiproc

# Below what a codec does in a second: by this rate alone everything pays.
MEGABITS = 80
GUESSED = {"THINWIRE_CODEC": "auto", "THINWIRE_FORCE": "0"}
NOT_KNOWN = "the link's rate is not known"


def interface(folder: Path) -> Path:
    port = folder / "net" / "ib0"
    (port / "device").mkdir(parents=True)
    (port / "operstate").write_text("up\n")
    (port / "speed").write_text(f"{MEGABITS}\n")
    return folder / "net"


def on_guessed_link(mpi: Mpi, folder: Path, *program: str | Path) -> Run:
    net = interface(folder)
    launcher = [*mpi.launcher, "-launcher", "fork", "-hosts", "a,b", "-n", "2"]
    words = [*launcher, *preloaded(program, mpi.production)]
    enter = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /sys/class/net && exec "$@"']
    if shutil.which("unshare") is None or subprocess.run([*enter, net, "true"]).returncode != 0:
        pytest.skip("no right to mount here")
    return run([*enter, net, *words], GUESSED, folder / "report.json", timeout=120)


@pytest.fixture
def mpich() -> Mpi:
    found = [mpi for mpi in OTHERS if mpi.name == "mpich"]
    if not found:
        pytest.skip("no MPICH here")
    return found[0]


def test_messages_stay_raw(mpich: Mpi, tmp_path: Path) -> None:
    done = on_guessed_link(mpich, tmp_path, mpich.programs / "shim_fresh_types", "40000", "3")
    done.all_right(2)
    assert done.report is not None
    assert done.report["compressed_messages"] == 0
    assert done.report["raw_by_reason"] == {NOT_KNOWN: 15}


def test_calls_that_wait_for_nobody_stay_the_mpis_own(mpich: Mpi, tmp_path: Path) -> None:
    program = [mpich.programs / "shim_coll_timed", "smooth", "40", "65536", "allgather", "ibcast"]
    done = on_guessed_link(mpich, tmp_path, *program).all_right(2)
    native = done.collectives["native_by_reason"]
    assert native[NOT_KNOWN] > 2 * 40
    # Blocking ones are timed both ways, whatever is guessed.
    assert native["being timed, raw and compressed"] > 0


NO_COUNTERS = BUILD / "tests" / "shim" / "libshim_no_tcp_info.so"
ROUNDS, ATTEMPTS = 30, 4
# The others are for `make test-all`.
EVERY_MPI = [
    pytest.param(mpi, marks=() if mpi is SYSTEM else pytest.mark.slow, id=mpi.name) for mpi in ALL
]
PLACES = [(1, "all"), (4, "one"), pytest.param(4, "all", marks=pytest.mark.slow)]


def over_unseen_link(mpi: Mpi, ranks_a_host: int, who: str, report: Path) -> Run:
    """Debian's MPICH 4.0 now and then does not end in MPI_Finalize, without the library too."""
    words = [mpi.programs / "shim_unseen_link", who, str(ROUNDS)]
    try:
        with Lab(hosts=2, link="2gbit", ranks_per_host=ranks_a_host) as lab:
            for _ in range(ATTEMPTS):
                try:
                    return over_hosts(
                        lab, 2 * ranks_a_host, words, GUESSED, report, mpi=mpi, beside=[NO_COUNTERS]
                    )
                except subprocess.TimeoutExpired:
                    if mpi.name != "mpich":
                        raise
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    pytest.skip("this MPI does not end")


@pytest.mark.parametrize(("ranks_a_host", "who"), PLACES)
@pytest.mark.parametrize("mpi", EVERY_MPI)
def test_over_a_network_that_nothing_measures(
    mpi: Mpi, ranks_a_host: int, who: str, tmp_path: Path
) -> None:
    """However few of the ranks that may share the interface use it."""
    report = tmp_path / "report.json"
    done = over_unseen_link(mpi, ranks_a_host, who, report).all_right(2 * ranks_a_host)
    assert done.report is not None
    assert done.report["compressed_messages"] == 0
    senders = ranks_a_host if who == "all" else 1
    assert done.report["raw_by_reason"][NOT_KNOWN] == senders * ROUNDS
