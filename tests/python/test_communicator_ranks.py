"""Communicators of processes: over MPI, and under signals that come while a rank waits."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from thinwire.bench.programs import clean_environment
from thinwire.comm.transport import _family
from thinwire.library import built_shims

# Communicators over MPI, made from mpi4py's.

PROGRAM = Path(__file__).with_name("mpi4py_ranks.py")
ROOT = PROGRAM.parents[2]

# How mpi4py is told which MPI to load, and what that says of itself.
SAID = {"openmpi": "Open MPI", "mpich": "MPICH"}


def environment(mpi: str, prefix: Path | None = None) -> dict[str, str]:
    mine = clean_environment() | {"MPI4PY_MPIABI": mpi, "OMPI_MCA_mpi_yield_when_idle": "1"}
    if prefix is not None:
        mine["LD_LIBRARY_PATH"] = str(prefix / "lib")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return mine | root


def launchers(mpi: str) -> list[tuple[list[str], dict[str, str]]]:
    """The system's, and those of THINWIRE_MPIS or of this tree, with the environment each needs."""
    named = os.environ.get("THINWIRE_MPIS", "").split(":")
    prefixes = [Path(name) for name in named if name] or sorted((ROOT / "build" / "mpi").glob("*"))
    options = ["--oversubscribe"] if mpi == "openmpi" else []
    system = shutil.which("mpirun.openmpi" if mpi == "openmpi" else "mpiexec.mpich")
    found = [] if system is None else [([system, *options], environment(mpi))]
    for prefix in prefixes:
        program = prefix / "bin" / "mpiexec"
        if prefix.name.startswith(mpi) and program.exists():
            found.append(([str(program), *options], environment(mpi, prefix)))
    return found


@pytest.fixture(scope="module", params=SAID)
def launcher(request) -> tuple[list[str], dict[str, str]]:
    """The first one whose MPI mpi4py can load."""
    pytest.importorskip("mpi4py")
    if request.param not in built_shims():
        pytest.skip(f"no library for {SAID[request.param]} is built")
    probe = [sys.executable, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"]
    for words, mine in launchers(request.param):
        command = [*words, "-n", "1", *probe]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=mine)
        if SAID[request.param] in done.stdout:
            return words, mine
    pytest.skip(f"no {SAID[request.param]} that mpi4py can load")


@pytest.mark.multiproc
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_same_words_give_the_same_as_mpi4py(launcher, ranks):
    words, mine = launcher
    command = [*words, "-n", str(ranks), sys.executable, str(PROGRAM), "mpc"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=mine)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line for line in done.stdout.splitlines() if line]
    assert said == ["13 calls agree", "compressed", "two levels agree", "refused"]


def test_without_an_mpi_there_is_no_transport():
    with pytest.raises(RuntimeError, match="no MPI"):
        _family()


# Signals that come while a rank waits for one that never comes.

FOLDER = Path(__file__).parent
RANKS = """
import sys
import threading
import time
import numpy as np
import thinwire
from thread_ranks import Network, ends_of
from thinwire import Communicator, Transport

def of_python():
    "Communicators over transports whose functions are Python's."
    ends = ends_of(Network(), 2)
    comms = [None, None]
    def make(rank):
        comms[rank] = Communicator(ends[rank], **options)
    other = threading.Thread(target=make, args=(1,))
    other.start()
    make(0)
    other.join()
    return comms

def calls():
    "Whether the main thread is in a call on a communicator."
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None and frame.f_code.co_name not in ("_run", "plan", "__init__"):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.endswith("communicator.py")

def say_when_main_waits():
    "It is in the library by then: a call takes no second to begin."
    since = time.monotonic()
    while time.monotonic() - since < 1:
        time.sleep(0.05)
        if not calls():
            since = time.monotonic()
    print("waits", flush=True)

said = threading.Thread(target=say_when_main_waits, daemon=True)
options = {"threshold": 0, "codec": "mpc"}
values, sums = np.ones(100000, np.float32), np.empty(100000, np.float32)
"""
WAIT = """
comm = comms[0]
said.start()
try:
    {call}
except {error} as error:
    print("interrupted", flush=True)
"""
AFTER = """
try:
    comm.Bcast(values)
except thinwire.ThinwireError as error:
    print(error)
try:
    comms[1].Allreduce(values, sums)
except thinwire.ThinwireError as error:
    print(error)
comm.close()
"""


def run(program: str, number: signal.Signals) -> list[str]:
    """What a program says that gets a signal once it says that it waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=FOLDER
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(number)
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    return said.splitlines()


@pytest.mark.parametrize("ranks", ["thinwire.local_ranks(2, **options)", "of_python()"])
def test_an_interrupt_ends_the_wait_for_a_rank_that_never_comes(ranks):
    """The communicator says why it is of no use any more, and so does the other rank's."""
    wait = WAIT.format(call="comm.Allreduce(values, sums)", error="KeyboardInterrupt")
    said = run(f"{RANKS}comms = {ranks}\n{wait}{AFTER}", signal.SIGINT)
    assert said[0] == "interrupted"
    assert "earlier call: the " in said[1]
    assert "transport" in said[2]


def test_an_interrupt_ends_the_making_of_a_communicator():
    wait = WAIT.format(call="Communicator(comm, **options)", error="KeyboardInterrupt")
    assert run(f"{RANKS}comms = Transport.local(2)\n{wait}", signal.SIGINT) == ["interrupted"]


def test_an_interrupt_ends_a_plan_that_measures_with_others():
    wait = WAIT.format(call='comm.plan("bcast", 1000000)', error="KeyboardInterrupt")
    comms = 'comms = thinwire.local_ranks(2, link="1gbit", **options)'
    assert run(f"{RANKS}{comms}\n{wait}", signal.SIGINT) == ["interrupted"]


def test_what_a_handler_of_the_programs_own_raises_comes_out_of_the_call():
    handler = """
import signal

def leave(*_):
    raise TimeoutError

signal.signal(signal.SIGUSR1, leave)
"""
    wait = WAIT.format(call="comm.Bcast(sums, root=1)", error="TimeoutError")
    comms = "comms = thinwire.local_ranks(2, **options)"
    assert run(f"{RANKS}{handler}{comms}\n{wait}", signal.SIGUSR1) == ["interrupted"]


def test_a_handler_that_raises_nothing_ends_no_wait():
    program = """
import signal
comms = thinwire.local_ranks(2, **options)
other = threading.Thread(target=lambda: comms[1].Bcast(values, root=1), daemon=True)

def start(*_):
    other.start()

signal.signal(signal.SIGUSR1, start)
said.start()
comms[0].Bcast(sums, root=1)
print(int(sums.sum()))
other.join()
"""
    assert run(RANKS + program, signal.SIGUSR1) == ["100000"]


def test_a_rank_in_another_thread_may_wait_while_the_interpreter_ends():
    """Python would end that thread inside the library, and with it the process, if it was asked."""
    program = """
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)

comms = thinwire.local_ranks(2, **options)
threading.Thread(target=lambda: comms[1].Bcast(sums, root=0), daemon=True).start()
time.sleep(0.3)
slow = Slow()
print("waits", flush=True)
"""
    assert run(RANKS + program, signal.SIGCONT) == []
