"""Programs may send while they end, from functions that run at exit."""

import shutil
import subprocess
from pathlib import Path

import pytest

from thinwire.library import library_folder, library_path

SOURCE = Path(__file__).with_name("at_exit.c")
INCLUDE = Path(__file__).parents[2] / "include"

pytestmark = pytest.mark.gpu


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_kernels_run_at_exit(tmp_path: Path) -> None:
    core, program = library_path("libthinwire.so.0"), tmp_path / "at_exit"
    words = ["cc", f"-I{INCLUDE}", SOURCE, core, f"-Wl,-rpath,{library_folder()}", "-ldl"]
    subprocess.run([*map(str, words), "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["same values, smaller"] * 2
