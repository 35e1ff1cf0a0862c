"""Settings of Intel MPI that change how it sends, starts and binds: programs compute the same, and
their messages are compressed."""

from pathlib import Path

import pytest
from mpis import OTHERS, Mpi
from shim_runs import Run, mpirun

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
# Not I_MPI_ASYNC_PROGRESS=1: programs of several threads crash under it by themselves.
SETTINGS = {
    "memory": {"I_MPI_FABRICS": "shm"},
    "tcp": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"},
    "both": {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp"},
    "sockets": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "sockets"},
    "forked": {"I_MPI_HYDRA_BOOTSTRAP": "fork"},
    "bound": {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "core"},
    "sleeping": {"I_MPI_WAIT_MODE": "1"},
    "pmix": {"I_MPI_PMI": "pmix"},
}
INTEL = [mpi for mpi in OTHERS if mpi.name.startswith("impi")]


@pytest.fixture(params=INTEL, ids=lambda mpi: mpi.name)
def intel(request: pytest.FixtureRequest) -> Mpi:
    return request.param


def alike(done: Run, native: Run) -> None:
    assert native.code == 0, native.errors
    assert (done.code, sorted(done.output.split("\n"))) == (0, sorted(native.output.split("\n")))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(("program", "ranks"), [("exchange", 2), ("coll_same", 3)])
def test_settings(intel: Mpi, name: str, program: str, ranks: int, tmp_path: Path) -> None:
    words = [intel.programs / f"shim_{program}"]
    settings, report = SETTINGS[name], tmp_path / "report.json"
    native = mpirun(ranks, words, settings=settings, mpi=intel)
    done = mpirun(ranks, words, intel.production, {**CODEC, **settings}, report, mpi=intel)
    alike(done, native)
    assert done.thinwire_lines() == []
    assert done.report is not None, done.errors
    assert done.report["compressed_messages"] + done.collectives["compressed"] > 0
