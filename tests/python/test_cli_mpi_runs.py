"""`thinwire run` and `exec` with the MPIs of this machine: what every rank has, here and on nodes
that ranks reach by a remote shell. Those of THINWIRE_MPIS are taken beside the system's."""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from mpi_stubs import call, compile_with, make_installation, run

from thinwire.launch import best_fit, find_program
from thinwire.library import built_shims

pytestmark = pytest.mark.multiproc

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* value(const char* name) {
  const char* found = getenv(name);
  return found ? found : "none";
}

int main(int argc, char** argv) {
  int rank, size, mapped = 0;
  char line[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) mapped |= strstr(line, argv[1]) != NULL;
  printf("rank %d of %d mapped %d codec %s node %s\\n", rank, size, mapped,
         value("THINWIRE_CODEC"), value("TEST_NODE"));
  MPI_Finalize();
  return 0;
}
"""

# As ssh: options first, then a host; a clean environment, and the words for a shell.
AGENT = """#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
node=$1; shift
exec env -i HOME=/tmp PATH=/usr/bin:/bin TEST_NODE=$node \\
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /bin/sh -c "$*"
"""

CODEC = "zfp:rate=8,shape=2x3"


@dataclass(frozen=True)
class Mpi:
    name: str
    family: str
    compiler: str
    launcher: str

    def __str__(self) -> str:
        return self.name


def _mpis() -> list[Mpi]:
    found = [
        Mpi("system-openmpi", "openmpi", "mpicc.openmpi", "mpirun.openmpi"),
        Mpi("system-mpich", "mpich", "mpicc.mpich", "mpiexec.mpich"),
    ]
    for prefix in filter(None, os.environ.get("THINWIRE_MPIS", "").split(":")):
        bin_folder = Path(prefix) / "bin"
        family = "mpich" if (bin_folder / "mpichversion").exists() else "openmpi"
        name, launcher = Path(prefix).name, str(bin_folder / "mpirun")
        found.append(Mpi(name, family, str(bin_folder / "mpicc"), launcher))
        if (bin_folder / "mpicc_abi").exists():
            found.append(Mpi(f"{name}-abi", "abi", str(bin_folder / "mpicc_abi"), launcher))
    return found


@pytest.fixture(params=_mpis(), ids=str)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    for tool in (request.param.compiler, request.param.launcher):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    return request.param


@pytest.fixture
def program(mpi: Mpi, tmp_path: Path) -> Path:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    compile_with(source, "-o", tmp_path / "program", compiler=mpi.compiler)
    return tmp_path / "program"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "THINWIRE_LIBRARY_DIR": str(make_installation(tmp_path / "installation")),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def shim_of(program: Path) -> str:
    """The preload library that has the names of the program's MPI."""
    found = find_program([str(program)])
    assert found is not None
    ((family, library),) = found.libraries
    return best_fit(built_shims()[family], [Path(library)]).library.name


def ranks(mpi: Mpi, count: int) -> list[str]:
    """The launcher's words for that many ranks on a machine of any size."""
    return [*(["--oversubscribe"] if mpi.family == "openmpi" else []), "-n", str(count)]


def lines(output: str) -> list[str]:
    return sorted(line for line in output.splitlines() if line.startswith("rank "))


def test_every_rank_has_the_library_of_its_mpi(
    mpi: Mpi, program: Path, environment: dict[str, str]
) -> None:
    launched = [mpi.launcher, *ranks(mpi, 2), program, shim_of(program)]
    result = call("run", "--codec", CODEC, "--", *launched, environment=environment)
    assert result.returncode == 0, result.stderr
    expected = [f"rank {rank} of 2 mapped 1 codec {CODEC} node none" for rank in (0, 1)]
    assert lines(result.stdout) == expected


def test_programs_with_a_sanitizer_start(
    mpi: Mpi, environment: dict[str, str], tmp_path: Path
) -> None:
    """Its runtime refuses to come behind another library, so it is preloaded first."""
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    program = tmp_path / "program"
    compile_with(source, "-fsanitize=address", "-o", program, compiler=mpi.compiler)
    environment |= {"ASAN_OPTIONS": "detect_leaks=0"}  # MPIs keep some memory until the end
    launched = [mpi.launcher, *ranks(mpi, 2), program, shim_of(program)]
    result = call("run", "--codec", CODEC, "--", *launched, environment=environment)
    assert result.returncode == 0, result.stderr
    expected = [f"rank {rank} of 2 mapped 1 codec {CODEC} node none" for rank in (0, 1)]
    assert lines(result.stdout) == expected
    alone = [sys.executable, "-m", "thinwire", "exec", "--codec", CODEC, "--"]
    result = run([mpi.launcher, *ranks(mpi, 1), *alone, program, shim_of(program)], environment)
    assert result.returncode == 0, result.stderr


def test_every_program_of_several_has_it(
    mpi: Mpi, program: Path, environment: dict[str, str]
) -> None:
    part = [*ranks(mpi, 1), program, shim_of(program)]
    own = ["-x", "HOME"] if mpi.family == "openmpi" else []
    result = call("run", "--", mpi.launcher, *own, *part, ":", *part, environment=environment)
    assert result.returncode == 0, result.stderr
    expected = [f"rank {rank} of 2 mapped 1 codec auto node none" for rank in (0, 1)]
    assert lines(result.stdout) == expected


def test_ranks_on_other_nodes_have_it(
    mpi: Mpi, program: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    agent = tmp_path / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    if mpi.family == "openmpi":
        words = ["--host", "tw-test-a:1,tw-test-b:1"]
        # Versions 4 and 5 have the parameter under two names.
        environment |= {"OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": str(agent)}
        environment |= {"PRTE_MCA_plm_ssh_agent": str(agent)}
        environment |= {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1"}
        # As in the lab: its daemons would crash in a rare layout of their memory.
        environment |= {"OMPI_MCA_rtc_hwloc_vmhole": "none"}
    else:
        words = ["-launcher", "ssh", "-launcher-exec", str(agent), "-hosts", "tw-test-a,tw-test-b"]
    launched = [mpi.launcher, *words, *ranks(mpi, 2), program, shim_of(program)]
    result = call("run", "--codec", CODEC, "--", *launched, environment=environment)
    assert result.returncode == 0, result.stderr
    found = lines(result.stdout)
    assert len(found) == 2
    assert all(f"of 2 mapped 1 codec {CODEC} node tw-test-" in line for line in found)


def test_exec_knows_the_mpi_that_started_it(
    mpi: Mpi, program: Path, environment: dict[str, str]
) -> None:
    rank = [sys.executable, "-m", "thinwire", "exec", "--codec", CODEC, "--"]
    words = [mpi.launcher, *ranks(mpi, 2), *rank, program, shim_of(program)]
    result = run(words, environment)
    assert result.returncode == 0, result.stderr
    expected = [f"rank {rank} of 2 mapped 1 codec {CODEC} node none" for rank in (0, 1)]
    assert lines(result.stdout) == expected
