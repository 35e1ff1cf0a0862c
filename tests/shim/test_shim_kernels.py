"""On a machine with a GPU a rank whose library of kernels cannot be used leaves all to the MPI."""

import shutil
import subprocess
from pathlib import Path

import pytest
from shim_runs import EXCHANGE, PRODUCTION, ZFP, mpirun

pytestmark = pytest.mark.multiproc

KERNELS = PRODUCTION.parent / "libthinwire_kernels.so"

# A machine whose driver has made the device's node.
ACCESS = """
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int access(const char* path, int mode) {
  return strcmp(path, "/dev/nvidiactl") == 0 ? 0 : faccessat(AT_FDCWD, path, mode, 0);
}
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The preload library alone."""
    if not KERNELS.exists():
        pytest.skip("the library has no GPU side")
    return Path(shutil.copy(PRODUCTION, tmp_path))


@pytest.fixture
def on_gpu_machine(tmp_path: Path) -> Path:
    (tmp_path / "access.c").write_text(ACCESS)
    library = tmp_path / "access.so"
    compiler = ["cc", "-shared", "-fPIC", tmp_path / "access.c", "-o", library]
    subprocess.run([str(word) for word in compiler], check=True)
    return library


def test_without_it_all_is_native(copy: Path, on_gpu_machine: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    program = ["env", f"LD_PRELOAD={on_gpu_machine}:{copy}", EXCHANGE]
    done = mpirun(2, program, None, ZFP, report)
    assert done.code == 0, done.errors
    assert "rank 1 difference 0\n" in done.output
    assert done.report is None
    path = copy.parent / KERNELS.name
    wanted = f"thinwire: error: the GPU side cannot be used: {path}: No such file or directory"
    assert done.thinwire_lines() == [wanted] * 2


def test_with_it_messages_are_compressed(copy: Path, on_gpu_machine: Path, tmp_path: Path) -> None:
    shutil.copy(KERNELS, copy.parent)
    report = tmp_path / "report.json"
    program = ["env", f"LD_PRELOAD={on_gpu_machine}:{copy}", EXCHANGE]
    done = mpirun(2, program, None, ZFP, report)
    assert done.code == 0 and done.report is not None, done.errors
    assert done.report["compressed_messages"] > 0


def test_a_machine_without_gpus_does_without_it(copy: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = mpirun(2, [EXCHANGE], copy, ZFP, report)
    assert done.code == 0 and done.thinwire_lines() == []
    assert done.report is not None and done.report["compressed_messages"] > 0
