"""torch tensors, by the torch of `make torch`."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VENV = Path(os.environ.get("THINWIRE_TEST_TORCH", ROOT / "build" / "torch-venv"))


@pytest.mark.skipif(
    not (VENV / ".ready").exists(), reason=f"no torch in {VENV}: `make torch` installs it"
)
def test_tensors_on_the_way() -> None:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    if not (VENV / "lib" / version).is_dir():
        pytest.skip("the torch of tests is another Python's")
    # Its own packages, and after them those of this environment, among which is Dask.
    code = (
        f"import sys; sys.path.append({sysconfig.get_path('purelib')!r}); "
        f"exec(open({str(HERE / 'torch_checks.py')!r}).read())"
    )
    paths = os.pathsep.join([str(ROOT / "python"), str(HERE)])
    done = subprocess.run(
        [VENV / "bin" / "python", "-c", code],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "ok\n", done.stdout + done.stderr
