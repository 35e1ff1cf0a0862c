"""A program without MPI that loads a library with MPI privately, so that no symbol is global."""

from pathlib import Path

import pytest
from shim_runs import PROGRAMS, SHRINK, TESTING, mpirun

pytestmark = pytest.mark.multiproc

HOST, PLUGIN = PROGRAMS / "shim_plugin_host", PROGRAMS / "libshim_plugin.so"
MESSAGES = 6


def test_runs_without_the_library() -> None:
    done = mpirun(2, [HOST, PLUGIN])
    assert (done.code, done.errors) == (0, "")
    assert done.output.count("as it should be") == 2


@pytest.mark.parametrize("binding", [[], ["deep"]], ids=["plain", "deep"])
def test_messages_of_a_plugin_are_compressed(binding: list[str], tmp_path: Path) -> None:
    done = mpirun(2, [HOST, PLUGIN, *binding], TESTING, SHRINK, tmp_path / "report.json")
    assert (done.code, done.errors) == (0, "")
    assert done.output.count("as it should be") == 2
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == MESSAGES
