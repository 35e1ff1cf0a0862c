"""A launcher that fails for a while: what it does not say is not taken for a rank without the
library. The failures are put before PMIx, where the MPI links it, by a stand-in of one rank."""

import re
from pathlib import Path

import pytest
from mpis import ALL, OTHERS, Mpi
from shim_runs import PROGRAMS, SHRINK, Run, largest_differences, mpirun, preloaded, run

pytestmark = pytest.mark.multiproc

FAULTY = PROGRAMS / "libshim_faulty_pmix.so"
LINKING_PMIX = [mpi for mpi in OTHERS if mpi.name.startswith("openmpi-5")]
TIMEOUT, NOT_FOUND, OUT_OF_RESOURCE = -24, -46, -29
ALWAYS = 10**6
# 20 messages each way; collectives of at least 512 bytes.
EXCHANGE = ["shim_exchange", "1048576", "20"]
COLLECTIVES = {
    "THINWIRE_CODEC": "mpc",
    "THINWIRE_SAME_NODE": "1",
    "THINWIRE_THRESHOLD": "512",
}


@pytest.fixture(params=LINKING_PMIX, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


def run_faulty(
    mpi: Mpi, program: list[str], fault: str, settings: dict[str, str], report: Path | None = None
) -> Run:
    """Two ranks, both with the library, and `fault` as faulty_pmix.c has it."""
    preload = f"LD_PRELOAD={mpi.testing}:{FAULTY}"
    words = [mpi.programs / program[0], *program[1:]]
    launch = [*mpi.launcher, "-n", "2", "env", preload, *words]
    return run(launch, {**settings, "FAULTY_PMIX": fault}, report, timeout=60)


@pytest.mark.parametrize("code", [TIMEOUT, OUT_OF_RESOURCE])
def test_messages_are_whole_while_a_rank_learns_nothing(mpi: Mpi, code: int) -> None:
    done = run_faulty(mpi, EXCHANGE, f"1:thinwire.capabilities:{ALWAYS}:{code}", SHRINK)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0.0, 1: 0.0}


def test_it_is_asked_again(mpi: Mpi, tmp_path: Path) -> None:
    fault = f"1:thinwire.capabilities:3:{TIMEOUT}"
    done = run_faulty(mpi, EXCHANGE, fault, SHRINK, tmp_path / "report")
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0.0, 1: 0.0}
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] > 20


def test_no_card_is_no_library(mpi: Mpi) -> None:
    """Here the stand-in lies to one rank, for the one that publishes none."""
    fault = f"1:put:{ALWAYS}:{OUT_OF_RESOURCE}"
    done = run_faulty(mpi, EXCHANGE, fault, SHRINK)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0.0, 1: 0.0}


@pytest.mark.parametrize(
    "fault", [f"1:commit:{ALWAYS}", "1:commit:2", "1:put:2", "1:pmix.lpeers:3"], ids=str
)
def test_capabilities_that_are_published_with_trouble(mpi: Mpi, fault: str) -> None:
    done = run_faulty(mpi, EXCHANGE, f"{fault}:{TIMEOUT}", SHRINK)
    if "commit:1000" not in fault:  # or the MPI itself gives up
        assert done.code == 0, done.errors
    for difference in largest_differences(done.output).values():
        assert difference == 0.0


def test_collectives_wait_for_the_answer(mpi: Mpi, tmp_path: Path) -> None:
    fault = f"1:thinwire.capabilities:4:{TIMEOUT}"
    done = run_faulty(mpi, ["shim_coll"], fault, COLLECTIVES, tmp_path / "report")
    done.all_right(2)
    assert done.report is not None
    assert done.report["collectives"]["compressed"] > 100


def test_a_slow_answer_keeps_no_other_thread_waiting(mpi: Mpi) -> None:
    preload = f"LD_PRELOAD={mpi.production}:{FAULTY}"
    launch = [*mpi.launcher, "-n", "3", "env", preload, mpi.programs / "shim_slow_launcher"]
    done = run(launch, {"THINWIRE_SAME_NODE": "1", "SLOW_PMIX": "0:1:3000"}, None, timeout=60)
    assert done.code == 0, done.errors
    (took,) = re.findall(r"took (\d+)", done.output)
    assert int(took) < 1500


# Questions of ranks with threads to the launcher: about all others only if they need to know.

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
    if mpi.name == "mpich" or mpi.name.startswith("impi"):
        pytest.skip("MPICH 4.0 and Intel MPI hang if a thread spawns and one makes a communicator")
    program = [mpi.programs / "shim_questions", "spawn"]
    done = mpirun(2, program, mpi.production, SETTINGS, tmp_path / "report", timeout=25, mpi=mpi)
    done.all_right(2)
    # An MPI of the standard ABI may be one that makes no two communicators at once.
    assert done.collectives["compressed"] == (0 if mpi.abi == "abi" else 2)
    assert "error" not in done.errors
