"""What a launcher leaves that is killed, as one that does not end in time after an interrupt."""

import subprocess
import tempfile
from pathlib import Path

import pytest

from thinwire.bench.programs import Loopback

LAUNCHER = 'mkdir "${OMPI_MCA_orte_tmpdir_base:-$TMPDIR}/ompi.host.0" && exec sleep 31.7'


def test_the_files_of_a_launcher_that_is_killed_go_with_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(subprocess.TimeoutExpired):
        Loopback().run(["sh", "-c", LAUNCHER], timeout=1.5)
    assert list(tmp_path.iterdir()) == []
