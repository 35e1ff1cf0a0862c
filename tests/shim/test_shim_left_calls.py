"""Calls of MPI 4 and 4.1, and errors that leave a call by an exception of C++."""

from functools import cache
from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import mpirun

pytestmark = pytest.mark.multiproc

FORCED = {"THINWIRE_CODEC": "lossless", "THINWIRE_SAME_NODE": "1", "THINWIRE_FORCE": "1"}
SETTINGS = {"by default": {}, "forced": FORCED, "off": {"THINWIRE_CODEC": "off"}}


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("mode", ["inactive", "large_type"])
@pytest.mark.parametrize("settings", ["by default", "forced"])
def test_new_calls(mpi: Mpi, mode: str, settings: str, tmp_path: Path) -> None:
    program = [mpi.programs / "shim_new_calls", mode]
    done = mpirun(2, program, mpi.production, SETTINGS[settings], tmp_path / "report", mpi=mpi)
    if "no such calls" in done.output:
        pytest.skip("this MPI has no such calls")
    done.all_right(2)


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_library_that_ends_after_this_one_ends_the_mpi(settings: str) -> None:
    """Its destructor broadcasts and calls MPI_Finalize: lists of communicators were gone."""
    (mpi,) = (mpi for mpi in ALL if mpi.name == "openmpi")
    done = mpirun(2, [mpi.programs / "shim_late_main"], mpi.production, SETTINGS[settings])
    assert done.code == 0 and done.output.count("finalized") == 2, done.output + done.errors


def test_nothing_is_written_into_a_file_that_has_standard_errors_number(tmp_path: Path) -> None:
    """The report was, and before it lines of the log."""
    (mpi,) = (mpi for mpi in ALL if mpi.name == "openmpi")
    program = f"exec {mpi.programs / 'shim_late_main'} {tmp_path}/kept.$OMPI_COMM_WORLD_RANK 2>&-"
    settings = {**FORCED, "THINWIRE_REPORT": "1", "THINWIRE_LOG": "debug"}
    done = mpirun(2, ["sh", "-c", program], mpi.production, settings)
    assert done.code == 0 and done.output.count("number 2") == 2, done.output + done.errors
    assert [(tmp_path / f"kept.{rank}").read_text() for rank in (0, 1)] == ["", ""]


@pytest.mark.parametrize("settings", SETTINGS)
def test_an_error_handler_that_throws(settings: str, tmp_path: Path) -> None:
    """An unwinder of the library's own ended the process (exit by SIGABRT)."""
    (mpi,) = (mpi for mpi in ALL if mpi.name == "openmpi")
    program = [mpi.programs / "shim_left_by_exception"]
    done = mpirun(2, program, mpi.production, SETTINGS[settings], tmp_path / "report", mpi=mpi)
    done.all_right(2)


# Error handlers that leave a call by longjmp(): the program goes on as without the library.

LEFT_BY_JUMP_SETTINGS = {"by default": {}, "forced": FORCED}
MODES = ["plain", "persistent", "freed", "single", "threads"]


@cache
def natively(mpi: Mpi, mode: str) -> list[str] | None:
    """What the program says by itself; nothing where its MPI cannot be left so. Open MPI 4.1 starts
    no persistent request that has failed; MPICH holds a lock while a handler runs if there are
    threads; by its standard ABI MPICH tests a request that has failed for ever, on all processors,
    where others take a fraction of a second."""
    program = [mpi.programs / "shim_left_by_jump", mode]
    done = mpirun(2, program, mpi=mpi, timeout=10 if mpi.abi == "abi" else 60)
    return seen(done.output, mpi) if done.code == 0 else None


def seen(output: str, mpi: Mpi) -> list[str]:
    """What rank 0 saw, but for the end, where the ranks' lines may mix. Whether Intel MPI has an
    error for a message that was probed differs from run to run."""
    left_out = ("all right", "probed", "sized") if mpi.name.startswith("impi") else ("all right",)
    lines = output.splitlines()
    return [line for line in lines if line and not any(word in line for word in left_out)]


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("settings", LEFT_BY_JUMP_SETTINGS)
def test_calls_left_by_a_jump(mpi: Mpi, mode: str, settings: str, tmp_path: Path) -> None:
    if mpi.abi == "abi" and settings == "forced":
        pytest.skip("MPICH's standard ABI hands requests back after the handler")
    wanted = natively(mpi, mode)
    if wanted is None and (mode == "threads" or settings == "by default"):
        pytest.skip("this MPI cannot be left so")
    program = [mpi.programs / "shim_left_by_jump", mode]
    done = mpirun(
        2, program, mpi.production, LEFT_BY_JUMP_SETTINGS[settings], tmp_path / "report", mpi=mpi
    )
    done.all_right(2)
    if wanted is not None:
        assert seen(done.output, mpi) == wanted
    assert not [line for line in done.thinwire_lines() if "MPI_Finalize" in line], done.errors
    assert done.report is not None
    assert settings == "by default" or done.report["compressed_messages"] > 0, done.report
