"""A plain mpirun in a lab is a run on several machines, whichever MPI it is of."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from lab_helpers import MPIS, Mpi

from thinwire.lab import Lab

pytestmark = [pytest.mark.multiproc, pytest.mark.usefixtures("permitted")]

MESSAGE_BYTES = 4 << 20
PROGRAM = f"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {{
  MPI_Init(&argc, &argv);
  int rank, size, length;
  char name[MPI_MAX_PROCESSOR_NAME];
  char* data = calloc({MESSAGE_BYTES}, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  if (rank == 0) memset(data, 7, {MESSAGE_BYTES});
  if (rank == 0) MPI_Send(data, {MESSAGE_BYTES}, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
  if (rank == size - 1)
    MPI_Recv(data, {MESSAGE_BYTES}, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int intact = data[{MESSAGE_BYTES} - 1] == (rank == 0 || rank == size - 1 ? 7 : 0);
  printf("%s %d %d\\n", name, intact, getenv("THINWIRE_TEST_MARK") != NULL);
  MPI_Finalize();
  return 0;
}}
"""

# The last message has come, so the others have come before they are received.
WILDCARDS = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  enum { kMessages = 50 };
  MPI_Init(&argc, &argv);
  int rank, value = 0, right = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int at = 0; rank == 0 && at < kMessages; ++at)
    MPI_Send(&at, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int at = 0; rank == 1 && at < kMessages; ++at) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    right += value == at;
  }
  if (rank == 1) printf("%d of %d\\n", right, kMessages);
  MPI_Finalize();
  return 0;
}
"""


# Now and then MPI_Finalize of Debian's MPICH 4.0 does not end in a lab: no test for CI.
PARAMS = [pytest.param(mpi, marks=pytest.mark.slow if mpi.name == "mpich" else ()) for mpi in MPIS]


@pytest.fixture(scope="module", params=PARAMS, ids=str)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


def built(mpi: Mpi, text: str, folder: Path) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    subprocess.run([mpi.compiler, "-o", folder / "program", source], check=True)
    return folder / "program"


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(mpi, PROGRAM, tmp_path_factory.mktemp("mpi"))


def run(lab: Lab, mpi: Mpi, ranks: int, program: Path) -> list[tuple[str, str, str]]:
    """What each rank printed: its host, whether its data was intact, whether it has the mark."""
    environment = {**os.environ, "THINWIRE_TEST_MARK": "here"}
    words = [mpi.launcher, "-n", str(ranks), str(program)]
    done = lab.run(words, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [tuple(line.split()) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("ranks", "ranks_per_host"), [(2, 1), (4, 2)])
def test_ranks_spread_over_the_hosts(
    mpi: Mpi, program: Path, ranks: int, ranks_per_host: int
) -> None:
    with Lab(hosts=2, link="1gbit", ranks_per_host=ranks_per_host) as lab:
        lines = run(lab, mpi, ranks, program)
        sent = {
            row["host"]: row["sent_bytes"] for row in lab.counters() if row["interface"] == "tw0"
        }
        assert lab.drops() == 0
    assert Counter(line[0] for line in lines) == {
        "tw-lab-0": ranks_per_host,
        "tw-lab-1": ranks_per_host,
    }
    assert all(line[1] == "1" for line in lines)
    # Neither shared memory nor anything else but the link carried the message between hosts.
    assert MESSAGE_BYTES < sent["tw-lab-0"] < 1.1 * MESSAGE_BYTES + 500_000


def test_ranks_of_one_host_do_not_use_the_link(mpi: Mpi, program: Path) -> None:
    with Lab(hosts=2, link="1gbit", ranks_per_host=2) as lab:
        words = [mpi.launcher, "--host", "tw-lab-0:2", "-n", "2", str(program)]
        lab.run(words, check=True, timeout=60, stdout=subprocess.DEVNULL)
        sent = max(row["sent_bytes"] for row in lab.counters())
    assert sent < MESSAGE_BYTES / 4


def test_the_environment_is_handed_on_as_outside(mpi: Mpi, program: Path) -> None:
    with Lab(hosts=2, link="1gbit") as lab:
        marks = {line[0]: line[2] for line in run(lab, mpi, 2, program)}
    elsewhere = "1" if mpi.hands_on_the_environment else "0"
    assert marks == {"tw-lab-0": "1", "tw-lab-1": elsewhere}


def test_each_rank_has_its_hosts_gpus(mpi: Mpi, program: Path) -> None:
    show = ["sh", "-c", 'echo GPU $(hostname) $CUDA_VISIBLE_DEVICES; exec "$0"', str(program)]
    with Lab(hosts=2, link="1gbit", gpus=[4, 5]) as lab:
        words = [mpi.launcher, "-n", "2", *show]
        done = lab.run(words, capture_output=True, text=True, timeout=60)
        sent = max(row["sent_bytes"] for row in lab.counters())
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("GPU")]
    assert sorted(lines) == ["GPU tw-lab-0 4", "GPU tw-lab-1 5"]
    assert sent > MESSAGE_BYTES


def test_what_came_before_it_is_received_from_any_source(mpi: Mpi, tmp_path: Path) -> None:
    words = [mpi.launcher, "-n", "2", str(built(mpi, WILDCARDS, tmp_path))]
    with Lab(hosts=2, link="1gbit") as lab:
        done = lab.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "50 of 50\n"), done.stderr


def test_two_labs_run_mpi_at_once(mpi: Mpi, program: Path) -> None:
    words = [mpi.launcher, "-n", "2", str(program)]
    with Lab(hosts=2, link="1gbit") as one, Lab(hosts=2, link="1gbit") as two:
        started = [lab.popen(words, stdout=subprocess.PIPE, text=True) for lab in (one, two)]
        outputs = [process.communicate(timeout=60)[0] for process in started]
        assert [process.returncode for process in started] == [0, 0]
    for output in outputs:
        assert sorted(line.split()[0] for line in output.splitlines()) == ["tw-lab-0", "tw-lab-1"]
