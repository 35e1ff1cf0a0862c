"""Communicators that come and go, and many at once: what the library takes for them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mpis import ALL, OTHERS, SYSTEM, Mpi
from shim_runs import Run, mpirun, over_hosts

from thinwire.lab import Lab, LabUnavailable

pytestmark = pytest.mark.multiproc

CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
SUMS = {**CODEC, "THINWIRE_CODEC": "szp:allreduce-abs=1e-9"}
MOST, STEPS, COUNT = "3000", "200", "32768"
FEW_IDS = [mpi for mpi in OTHERS if mpi.abi != "openmpi"]


def number(done: Run, name: str) -> float:
    (line,) = (line for line in done.output.splitlines() if line.startswith(name + " "))
    return float(line.split()[1])


def test_as_many_communicators_as_natively(tmp_path: Path) -> None:
    if not FEW_IDS:
        pytest.skip("no MPI here has few context ids")
    for mpi in FEW_IDS:
        program = [mpi.programs / "shim_communicators", "many", MOST]
        natively = number(mpirun(2, program, mpi=mpi, timeout=120).all_right(2), "made")
        report = tmp_path / mpi.name
        done = mpirun(2, program, mpi.production, CODEC, report, mpi=mpi, timeout=120)
        made = number(done.all_right(2), "made")
        assert made >= natively - 8
        assert done.collectives["compressed"] == 2 * made


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_communicators_that_come_and_go(mpi: Mpi, ranks: int, tmp_path: Path) -> None:
    """Of the same ranks in one order and in others, some of which share and some cannot."""
    program = [mpi.programs / "shim_communicators", "mixed", "40"]
    report = tmp_path / "report.json"
    done = mpirun(ranks, program, mpi.production, CODEC, report, mpi=mpi, timeout=120)
    done.all_right(ranks)
    assert done.collectives["compressed"] > 0


def test_sums_on_communicators_that_come_and_go() -> None:
    program = [SYSTEM.programs / "shim_communicators", "mixed", "20"]
    mpirun(3, program, SYSTEM.production, SUMS, timeout=120)


@pytest.fixture(scope="module")
def fast() -> Iterator[Lab]:
    try:
        with Lab(hosts=2, link="10gbit") as made:
            yield made
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")


@pytest.mark.alone
def test_a_communicator_a_step_takes_no_longer(fast: Lab) -> None:
    program = [SYSTEM.programs / "shim_communicators", "step", COUNT, STEPS]
    off, auto = {"THINWIRE_CODEC": "off"}, {"THINWIRE_CODEC": "auto", "THINWIRE_FORCE": "0"}
    natively = min(number(over_hosts(fast, 2, program, off), "step") for _ in range(3))
    here = min(number(over_hosts(fast, 2, program, auto), "step") for _ in range(3))
    assert here < 1.5 * natively + 0.3, (natively, here)
