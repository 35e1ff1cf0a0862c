"""Programs that look NCCL's functions up in a handle, over a libnccl of host memory."""

import json
import sys
from pathlib import Path

import pytest
from test_nccl_shim import PROGRAMS, ROOT, SHIM, expect_taken, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "nccl_lookup"
NCCL = PROGRAMS / "lib" / "libnccl.so.2"
# It has no ncclAlltoAll.
EARLIER = PROGRAMS / "lib_gpu" / "libnccl.so.2"
CALLS = 340
REGISTRATION = (
    "ncclCommRegister",
    "ncclCommDeregister",
    "ncclMemAlloc",
    "ncclMemFree",
)


def gathers(path: Path) -> list[dict]:
    report = json.loads(path.read_text())
    return [each["operations"]["AllGather"] for each in report["communicators"]]


def check_gathers(path: Path, ranks: int) -> None:
    """All calls are seen, and those after the agreement compressed."""
    found = gathers(path)
    assert [each["calls"] for each in found] == [CALLS] * ranks
    assert all(each["compressed_calls"] >= 200 for each in found)


@pytest.mark.parametrize("how", ["local", "global", "deepbind"])
@pytest.mark.parametrize("by_name", [True, False], ids=["by its name", "by a path"])
def test_calls_that_are_looked_up_are_compressed(
    how: str, by_name: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(NCCL.parent))
    words = (PROGRAM, "run", "libnccl.so.2" if by_name else NCCL, how)
    settings = {"CODEC": "lorenzo", "REPORT": tmp_path / "report"}
    expect_taken(*words)
    assert run(*words, **settings) == ("ok\n", "")
    check_gathers(tmp_path / "report.nccl.rank0", 4)


def test_a_program_sees_the_functions_that_its_nccl_has() -> None:
    # The library takes the first four and leaves the others.
    windows = ("ncclCommWindowRegister", "ncclCommWindowDeregister")
    left = ("ncclGetVersion", *REGISTRATION)
    names = ("ncclSend", "ncclAlltoAll", *windows, *left, "ncclNone", "getpid")
    others = len(left)
    for nccl, all_to_all in ((NCCL, SHIM.name), (EARLIER, "none")):
        said, errors = run(PROGRAM, "names", nccl, *names)
        lines = [line.split(" ", 1) for line in said.splitlines()]
        assert [name for name, _ in lines] == list(names) * 3
        found = [where for _, where in lines]
        c_library = found[len(names) - 1]
        assert errors == "" and c_library.startswith("libc.so")
        # Before NCCL is loaded; in its handle; in the program's scope, where NCCL itself is not.
        assert found[: len(names) - 1] == ["none"] * (len(names) - 1)
        taken = [SHIM.name, all_to_all, SHIM.name, SHIM.name]
        behind = found[len(names) :]
        assert behind[: len(names)] == [*taken, *[nccl.name] * others, "none", c_library]
        assert behind[len(names) :] == [*taken, *["none"] * others, "none", c_library]


def test_of_two_nccls_calls_go_to_the_first() -> None:
    words = (PROGRAM, "second", NCCL, EARLIER, "ncclSend")
    text = f"this process has two NCCLs: calls that it looks up in {EARLIER} stay as they are"
    output, errors = run(*words)
    assert output == f"ncclSend {SHIM.name}\nthe other\nthe other\n"
    assert errors == f"thinwire: warning: {text}\n"


def test_what_is_searched_by_the_callers_place_is_found_as_ever() -> None:
    words = (PROGRAM, "scopes", PROGRAMS / "libnccl_lookup_module.so")
    natively = run(*words, preload=False)
    assert natively == ("next 0, default 3\n", "")
    assert run(*words) == natively


def test_a_program_in_python_that_takes_nccl_by_ctypes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name alone, where a module has brought it in before, as PyTorch does."""
    program = ROOT / "tests" / "nccl" / "ctypes_ranks.py"
    words = (sys.executable, program, PROGRAMS / "libnccl_module.so")
    settings = {"CODEC": "lorenzo", "REPORT": tmp_path / "report"}
    expect_taken(*words)
    assert run(*words, **settings) == ("ok\n", "")
    check_gathers(tmp_path / "report.nccl.rank0", 2)
