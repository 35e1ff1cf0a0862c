"""What ranks with threads ask the launcher: about all others only if they need to know."""

import re
from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import mpirun, preloaded, run

pytestmark = pytest.mark.multiproc

RANKS = 8
SETTINGS = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
# A line that hydra prints with -v for a question; in what ranks tell, a value follows the key.
QUESTION = re.compile(r"key=thinwire\.capabilities\.\d+(?! value)\b")
HYDRAS = [mpi for mpi in ALL if mpi.abi != "openmpi"]


def questions(mpi: Mpi, case: str) -> int:
    program = preloaded([mpi.programs / "shim_questions", case], mpi.production)
    done = run([*mpi.launcher, "-v", "-n", str(RANKS), *program], SETTINGS)
    assert done.code == 0, done.output + done.errors
    return len(QUESTION.findall(done.output + done.errors))


@pytest.mark.parametrize("mpi", HYDRAS, ids=lambda mpi: mpi.name)
def test_who_needs_nothing_of_others_asks_nothing(mpi: Mpi) -> None:
    assert questions(mpi, "nothing") == 0


@pytest.mark.parametrize("mpi", HYDRAS, ids=lambda mpi: mpi.name)
def test_ranks_that_broadcast_ask_about_each_other_once(mpi: Mpi) -> None:
    assert questions(mpi, "broadcast") == RANKS * RANKS


@pytest.mark.parametrize("mpi", HYDRAS, ids=lambda mpi: mpi.name)
def test_a_thread_in_a_call_of_the_launcher_keeps_no_answer_back(mpi: Mpi, tmp_path: Path) -> None:
    """The others are in the collective, and would compress it."""
    if mpi.name == "mpich":
        pytest.skip("MPICH 4.0 spawns nothing while another thread makes a communicator")
    program = [mpi.programs / "shim_questions", "spawn"]
    done = mpirun(2, program, mpi.production, SETTINGS, tmp_path / "report", timeout=25, mpi=mpi)
    done.all_right(2)
    # An MPI of the standard ABI may be one that makes no two communicators at once.
    assert done.collectives["compressed"] == (0 if mpi.abi == "abi" else 2)
    assert "error" not in done.errors
