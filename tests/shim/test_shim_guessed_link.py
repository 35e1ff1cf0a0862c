"""Where the rate of a link is only guessed, from what an interface says, nothing is compressed that
nobody times beside raw. The interface is a folder in the place of the system's; two ranks of one
machine count as two nodes, and have no connection that the library could measure."""

import shutil
import subprocess
from pathlib import Path

import pytest
from mpis import OTHERS, Mpi
from shim_runs import Run, preloaded, run

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
