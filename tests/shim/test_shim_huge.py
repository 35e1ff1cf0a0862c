"""Messages above 2 GiB, alone and under the library: minutes, and some 10 GiB of memory."""

from pathlib import Path

import pytest
from shim_runs import PRODUCTION, PROGRAMS, SHRINK, TESTING, mpirun

pytestmark = [pytest.mark.multiproc, pytest.mark.slow]

PROGRAM = PROGRAMS / "shim_conformance"
CASES = 6  # of an MPI without large counts
LIMIT_S = 1200

CONFIGURATIONS = {
    "native": (None, {}),
    "shrink": (TESTING, SHRINK),
    "mpc": (PRODUCTION, {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}),
}


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_huge_messages_arrive(configuration: str, tmp_path: Path) -> None:
    library, settings = CONFIGURATIONS[configuration]
    report = tmp_path / "report.json" if library else None
    done = mpirun(2, [PROGRAM, "huge"], library, settings, report, timeout=LIMIT_S)
    assert done.code == 0, done.output + done.errors
    assert done.output.count("PASS ") >= CASES
    if report is not None:
        assert done.report is not None
        assert done.report["damaged_messages"] == 0
        assert done.report["compressed_messages"] == done.report["decoded_messages"] >= CASES
