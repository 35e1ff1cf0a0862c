"""The library's counters as performance variables of MPI's tools interface."""

from mpis import SYSTEM
from shim_runs import mpirun


def test_variables_stand_behind_the_mpis_own() -> None:
    settings = {
        "THINWIRE_CODEC": "mpc",
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_FORCE": "1",
        "THINWIRE_LINK": "10mbit",
    }
    program = [SYSTEM.programs / "shim_variables"]
    done = mpirun(2, program, SYSTEM.production, mpi=SYSTEM, settings=settings)
    assert (done.code, done.output) == (0, "ok\nok\n"), done.errors
