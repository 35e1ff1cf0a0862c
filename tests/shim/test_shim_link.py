"""The rate of the link: what is not taken for it, and what stays raw while it is a guess."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from mpis import ALL, BUILD, OTHERS, SYSTEM, Mpi
from shim_runs import Run, over_hosts, preloaded, run

from thinwire.lab import Lab, LabUnavailable

# Traffic beside large messages is not taken for the link: small messages, small reductions, an
# upload of the program's own. At 10 Gbit/s no message should be compressed for them; at 100 Mbit/s
# the same programs compress.

AUTO = {"THINWIRE_CODEC": "auto", "THINWIRE_FORCE": "0"}
HOST_OF_RANK_0 = "10.77.0.1"
ROUNDS, ATTEMPTS = 40, 4
# A message takes 4 ms natively. On a machine that is busy the link is as slow as it seems.
BUSY_MILLISECONDS = 8
# The others are for `make test-all`.
EVERY_MPI = [
    pytest.param(mpi, marks=() if mpi is SYSTEM else pytest.mark.slow, id=mpi.name) for mpi in ALL
]


@pytest.fixture
def made(request: pytest.FixtureRequest) -> Iterator[Lab]:
    try:
        with Lab(hosts=2, link=request.param) as lab:
            yield lab
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")


def started(lab: Lab, mpi: Mpi, words: list[str | Path], settings: dict[str, str], to: Path) -> Run:
    """Debian's MPICH 4.0 now and then does not end in MPI_Finalize, without the library too."""
    if mpi.name != "mpich":
        return over_hosts(lab, 2, words, settings, to, timeout=120, mpi=mpi)
    for _ in range(ATTEMPTS):
        try:
            return over_hosts(lab, 2, words, settings, to, timeout=40, mpi=mpi)
        except subprocess.TimeoutExpired:
            continue
    pytest.skip("this MPI does not end")


def beside(
    lab: Lab, mpi: Mpi, what: str, settings: dict[str, str], report: Path
) -> tuple[Run, float]:
    words = [mpi.programs / "shim_beside", what, str(ROUNDS), HOST_OF_RANK_0]
    done = started(lab, mpi, words, settings, report)
    assert done.code == 0, done.errors
    assert "0 wrong" in done.output
    (milliseconds,) = re.findall(r"(\S+) ms", done.output)
    return done, float(milliseconds)


@pytest.mark.multiproc
@pytest.mark.alone
@pytest.mark.parametrize("made", ["10gbit"], indirect=True)
@pytest.mark.parametrize("what", ["small", "reductions", "upload"])
@pytest.mark.parametrize("mpi", EVERY_MPI)
def test_a_fast_link_is_not_taken_for_a_slow_one(
    mpi: Mpi, made: Lab, what: str, tmp_path: Path
) -> None:
    for _ in range(ATTEMPTS):
        done, milliseconds = beside(made, mpi, what, AUTO, tmp_path / "report.json")
        assert done.report is not None
        # The codec's own tries are few, and so are messages that are timed.
        if done.report["compressed_messages"] <= ROUNDS // 5:
            return
        native = {"THINWIRE_CODEC": "off"}
        _, natively = beside(made, mpi, what, native, tmp_path / "native.json")
        assert natively > BUSY_MILLISECONDS, (done.report, milliseconds, natively)
    pytest.skip("the machine is busy: messages take as long as on a slow link")


@pytest.mark.multiproc
@pytest.mark.alone
@pytest.mark.parametrize("made", ["100mbit"], indirect=True)
@pytest.mark.parametrize("what", ["small", "reductions", "upload"])
@pytest.mark.parametrize("mpi", EVERY_MPI)
def test_a_slow_link_is_known_beside_them(mpi: Mpi, made: Lab, what: str, tmp_path: Path) -> None:
    done, _ = beside(made, mpi, what, AUTO, tmp_path / "report.json")
    assert done.report is not None
    assert done.report["compressed_messages"] >= ROUNDS * 3 // 4, done.report


# If the rate of a link is only guessed, from what an interface says, nothing is compressed that
# nobody times beside raw. The interface is a folder in the place of the system's, and two ranks of
# one machine count as two nodes, or hosts of the lab have connections whose counters the kernel
# does not give: nothing measures a rate.

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


@pytest.mark.multiproc
def test_messages_stay_raw(mpich: Mpi, tmp_path: Path) -> None:
    done = on_guessed_link(mpich, tmp_path, mpich.programs / "shim_fresh_types", "40000", "3")
    done.all_right(2)
    assert done.report is not None
    assert done.report["compressed_messages"] == 0
    assert done.report["raw_by_reason"] == {NOT_KNOWN: 15}


@pytest.mark.multiproc
def test_calls_that_wait_for_nobody_stay_the_mpis_own(mpich: Mpi, tmp_path: Path) -> None:
    program = [mpich.programs / "shim_coll_timed", "smooth", "40", "65536", "allgather", "ibcast"]
    done = on_guessed_link(mpich, tmp_path, *program).all_right(2)
    native = done.collectives["native_by_reason"]
    assert native[NOT_KNOWN] > 2 * 40
    # Blocking ones are timed both ways, whatever is guessed.
    assert native["being timed, raw and compressed"] > 0


NO_COUNTERS = BUILD / "tests" / "shim" / "libshim_no_tcp_info.so"
GUESSED_LINK_ROUNDS, GUESSED_LINK_ATTEMPTS = 30, 4
PLACES = [(1, "all"), (4, "one"), pytest.param(4, "all", marks=pytest.mark.slow)]


def over_unseen_link(mpi: Mpi, ranks_a_host: int, who: str, report: Path) -> Run:
    """Debian's MPICH 4.0 now and then does not end in MPI_Finalize, without the library too."""
    words = [mpi.programs / "shim_unseen_link", who, str(GUESSED_LINK_ROUNDS)]
    try:
        with Lab(hosts=2, link="2gbit", ranks_per_host=ranks_a_host) as lab:
            for _ in range(GUESSED_LINK_ATTEMPTS):
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


@pytest.mark.multiproc
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
    assert done.report["raw_by_reason"][NOT_KNOWN] == senders * GUESSED_LINK_ROUNDS
