"""The library's kernels start on every GPU that it runs on, by what the compiler says of them."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from thinwire.library import library_folder, library_path

KERNELS = "libthinwire_kernels.so"
TOOL = Path(__file__).parents[2] / "tools" / "check_kernels"


def tool() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("check_kernels", str(TOOL))
    spec = importlib.util.spec_from_loader("check_kernels", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_library() -> None:
    if tool().tool() is None:
        pytest.skip("no cuobjdump")
    if not (library_folder() / KERNELS).exists():
        pytest.skip("the library has no GPU side")
    done = subprocess.run(
        [sys.executable, str(TOOL), str(library_path(KERNELS))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "sm_" in done.stdout


PRINTED = """
arch = sm_75
 Function encode_variable_of_something:
  REG:96 STACK:0 SHARED:{small} LOCAL:0
 Function other:
  REG:96 STACK:0 SHARED:49152 LOCAL:0
arch = sm_90
 Function decode_fixed_of_something:
  REG:96 STACK:0 SHARED:{large} LOCAL:0
"""


def test_what_is_too_large() -> None:
    check = tool()
    limit = check.static_limit()
    fits = check.read(PRINTED.format(small=limit, large=1024 + limit))
    assert [kernel[2] for kernel in fits] == [limit, 49152, limit]
    assert check.too_large(fits, limit) == []
    exceeds = check.read(PRINTED.format(small=limit + 1, large=1024 + limit + 1))
    assert [sentence.split(":")[0] for sentence in check.too_large(exceeds, limit)] == [
        "sm_75",
        "sm_90",
    ]
