"""What the library exports, against what the MPI has.

A call that can complete a receive and is not wrapped would hand wire bytes to the program, and one
that takes a buffer would hand GPU memory to an MPI that cannot reach it. So every
function of the MPI is wrapped or named here, with the reason why it may be left alone; a function
that a later MPI brings is neither and fails the test.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from shim_runs import PRODUCTION, PROGRAMS, TESTING

pytestmark = pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")

LEFT_ALONE = {
    "a barrier: it carries no data": r"I?[Bb]arrier",
    "one-sided: no user buffer": r"Win_(?!create$|attach$)\w+",
    "files: no user buffer": r"File_(?!i?(read|write))\w+|File_\w+_end"
    r"|Register_datarep|CONVERSION_FN_NULL",
    "buffered sends go raw": r"Buffer_(attach|detach)",
    "packing: sizes of packed data": r"Pack(_external)?_size",
    "statuses: corrected before the program has them": r"Get_(count|elements|elements_x)"
    r"|Status_\w+|Test_cancelled",
    "requests that the program completes itself": r"Grequest_(start|complete)",
    "handles between languages": r"(Request|Message)_(c2f|f2c)",
    "objects": r"(Type|Comm|Group|Info|Op|Errhandler|Attr|Keyval)_\w+|Intercomm_(create|merge)",
    "topologies": r"(Cart|Cartdim|Graph|Graphdims|Dist_graph|Topo|Dims)_\w+",
    "errors": r"Error_(class|string)|Add_error_(class|code|string)|Abort",
    "processes and names": r"(Open|Close)_port|(Publish|Unpublish|Lookup)_name",
    "the process and its memory": r"Initialized|Finalized|Query_thread|Is_thread_main|Pcontrol"
    r"|Get_(version|library_version|processor_name|address)|(Alloc|Free)_mem|Aint_(add|diff)"
    r"|Address|Wtick|Wtime|T_\w+",
    "constants and their Fortran forms": r"\w+_F90|F_STATUS(ES)?_IGNORE|\w*(DUP|COPY|DELETE)_FN",
}


def symbols(library: Path, *options: str) -> set[str]:
    words = ["nm", "-D", "--format=posix", *options, str(library)]
    listed = subprocess.run(words, capture_output=True, text=True, check=True)
    return {line.split()[0].partition("@")[0] for line in listed.stdout.splitlines()}


def names(found: set[str], prefix: str) -> set[str]:
    return {name.removeprefix(prefix) for name in found if name.startswith(prefix)}


@pytest.fixture(scope="module")
def mpi() -> Path:
    """The MPI that the programs of this build are linked with."""
    program = PROGRAMS / "shim_conformance"
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    (path,) = re.findall(r"libmpi\.so\S* => (\S+)", linked)
    return Path(path)


@pytest.fixture(scope="module", params=[PRODUCTION, TESTING], ids=["production", "testing"])
def shim(request: pytest.FixtureRequest) -> Path:
    return request.param


def left_alone(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in LEFT_ALONE.values())


def test_every_call_of_the_mpi_is_wrapped_or_left_alone_for_a_reason(mpi: Path, shim: Path) -> None:
    wrapped = names(symbols(shim, "--defined-only"), "MPI_")
    known = names(symbols(mpi, "--defined-only"), "MPI_")
    assert len(known) > 400
    assert {name for name in known - wrapped if not left_alone(name)} == set()


def test_a_call_is_wrapped_or_left_alone_but_not_both(shim: Path) -> None:
    wrapped = names(symbols(shim, "--defined-only"), "MPI_")
    assert {name for name in wrapped if left_alone(name)} == set()


@pytest.mark.parametrize(
    "name", ["Recv_c", "Isendrecv", "Imrecv", "Precv_init", "Waitall", "Request_get_status_any"]
)
def test_the_reasons_cover_no_receive(name: str) -> None:
    assert not left_alone(name)


def test_every_reason_is_needed(mpi: Path) -> None:
    known = names(symbols(mpi, "--defined-only"), "MPI_")
    for reason, pattern in LEFT_ALONE.items():
        assert any(re.fullmatch(pattern, name) for name in known), reason


def test_wrapped_calls_exist_in_the_mpi(mpi: Path, shim: Path) -> None:
    known = symbols(mpi, "--defined-only")
    assert symbols(shim, "--defined-only") <= known


def test_both_names_of_each_call_are_exported(shim: Path) -> None:
    exported = symbols(shim, "--defined-only")
    assert names(exported, "MPI_") == names(exported, "PMPI_")
    assert len(names(exported, "MPI_")) > 30


def test_nothing_else_is_exported(shim: Path) -> None:
    others = {name for name in symbols(shim, "--defined-only") if not re.match("P?MPI_", name)}
    assert others == set()


def test_no_symbol_of_the_mpi_is_needed_to_load(shim: Path) -> None:
    needed = symbols(shim, "--undefined-only")
    assert needed
    assert {name for name in needed if re.match("P?MPI_|ompi_|opal_|PMIx_", name)} == set()
