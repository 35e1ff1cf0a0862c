"""What the library exports, against what the MPI has.

A call that can complete a receive and is not wrapped would hand wire bytes to the program, and one
that takes a buffer would hand GPU memory to an MPI that cannot reach it. So every
function of the MPI is wrapped or named here, with the reason why it may be left alone; a function
that a later MPI brings is neither and fails the test.
"""

import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi, libraries, linked_mpi
from shim_runs import EXCHANGE, ZFP, largest_differences, mpirun

LEFT_ALONE = {
    "a barrier: it carries no data": r"Ibarrier|Barrier_init",
    "one-sided: no user buffer": r"Win_(?!create(_c|_dynamic|_errhandler)?$|allocate|attach$)\w+",
    "files: no user buffer": r"File_(?!open$|create_errhandler$|i?(read|write))\w+|File_\w+_end"
    r"|Register_datarep(_c)?|CONVERSION_FN_NULL(_C)?",
    "buffered sends go raw": r"(Comm_|Session_)?[Bb]uffer_(attach|detach|flush|iflush)(_c)?"
    r"|(Comm|Session)_(attach|detach|flush|iflush)_buffer(_c)?",
    "packing: sizes of packed data": r"Pack(_external)?_size(_c)?",
    "partitioned: no frame comes its way": r"Pready(_list|_range)?|Parrived",
    "statuses: corrected before the program has them, or where their size is asked": r"Status_\w+"
    r"|Test_cancelled",
    "requests that the program completes itself": r"Grequest_(start|complete)",
    "handles between languages": r"(Request|Message)_(c2f|f2c|toint|fromint)",
    "objects": r"Type_(?!free$)\w+|(Group|Info|Op|Errhandler|Keyval)_\w+|Attr_(delete|put)"
    r"|Comm_(?!free$|disconnect$|set_name$|spawn|i?dup|split|create(_from)?(_group|_errhandler)?$|accept|connect"
    r"|join|get_attr$|\w+_buffer)\w+|Session_(?!init$|finalize$|\w+_buffer)\w+",
    "topologies": r"(Cart|Graph|Dist_graph)_(?!create|sub$)\w+|(Cartdim|Graphdims|Topo|Dims)_\w+",
    "errors": r"(Remove_)?(e|E)rror_(class|code|string)|Add_error_(class|code|string)|Abort",
    "processes and names": r"(Open|Close)_port",
    "the process and its memory": r"Initialized|Finalized|Query_thread|Is_thread_main|Pcontrol"
    r"|Get_(version|library_version|processor_name|address|hw_resource_info)|(Alloc|Free)_mem"
    r"|Aint_(add|diff)|Address|Wtick|Wtime|Abi_\w+",
    "tools: all but performance variables": r"T_(?!pvar_)\w+(?<!category_get_pvars)"
    r"|T_pvar_session_\w+",
    "constants and their Fortran forms": r"\w+_F90|F(08)?_STATUS(ES)?_IGNORE"
    r"|F_(ARGVS_NULL|ERRCODES_IGNORE)"
    r"|\w*(DUP|COPY|DELETE)_FN|UNWEIGHTED|WEIGHTS_EMPTY",
}

# An MPI that links PMIx starts it by this call, when this rank's capabilities are published.
OF_THE_LAUNCHER = "PMIx_Init"

# For programs that bring MPI and core together themselves (thinwire_mpi.h), for the core of a
# program that asks what is counted (tw_stats_read), and for programs that look the calls up.
OF_THINWIRE = {"dlopen", "dlsym", "tw_mpi_transport", "tw_preload_stats", "tw_preload_stats_kinds"}

# No calls of MPI's standard yet, which some MPIs have.
AFTER_FAILURES = {
    f"{prefix}_Comm_{name}" for prefix in ("MPIX", "PMPIX") for name in ("revoke", "shrink")
}


def symbols(library: Path, *options: str) -> set[str]:
    words = ["nm", "-D", "--format=posix", *options, str(library)]
    listed = subprocess.run(words, capture_output=True, text=True, check=True)
    return {line.split()[0].partition("@")[0] for line in listed.stdout.splitlines()}


def names(found: set[str], prefix: str) -> set[str]:
    return {name.removeprefix(prefix) for name in found if name.startswith(prefix)}


def symbols_of(mpi: Mpi) -> set[str]:
    """Of the library that the MPI's programs are linked with."""
    return symbols(linked_mpi(mpi.programs / "shim_conformance"), "--defined-only")


@pytest.fixture(scope="module", params=ALL, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


@pytest.fixture(scope="module", params=["production", "testing"])
def shim(request: pytest.FixtureRequest, mpi: Mpi) -> Path:
    return mpi.production if request.param == "production" else mpi.testing


@pytest.fixture(scope="module")
def known(mpi: Mpi) -> set[str]:
    return names(symbols_of(mpi), "MPI_")


@pytest.fixture(scope="module")
def known_to_any() -> set[str]:
    return set().union(*(symbols_of(mpi) for mpi in ALL))


def left_alone(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in LEFT_ALONE.values())


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_every_call_of_the_mpi_is_wrapped_or_left_alone_for_a_reason(
    known: set[str], shim: Path
) -> None:
    wrapped = names(symbols(shim, "--defined-only"), "MPI_")
    assert len(known) > 400
    assert {name for name in known - wrapped if not left_alone(name)} == set()


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_a_call_is_wrapped_or_left_alone_but_not_both(shim: Path) -> None:
    wrapped = names(symbols(shim, "--defined-only"), "MPI_")
    assert {name for name in wrapped if left_alone(name)} == set()


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
@pytest.mark.parametrize(
    "name", ["Recv_c", "Isendrecv", "Imrecv", "Precv_init", "Waitall", "Request_get_status_any"]
)
def test_the_reasons_cover_no_receive(name: str) -> None:
    assert not left_alone(name)


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_every_reason_is_needed(known_to_any: set[str]) -> None:
    known = names(known_to_any, "MPI_")
    for reason, pattern in LEFT_ALONE.items():
        assert any(re.fullmatch(pattern, name) for name in known), reason


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_the_mpi_has_every_call_that_is_shown(mpi: Mpi, shim: Path) -> None:
    exported = symbols(shim, "--defined-only") - {OF_THE_LAUNCHER, *OF_THINWIRE}
    found = symbols_of(mpi)
    assert exported - found == set()


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_every_call_of_the_mpi_that_any_library_takes_is_taken(
    mpi: Mpi, known: set[str], shim: Path
) -> None:
    every = [names(symbols(path, "--defined-only"), "MPI_") for path in libraries(mpi.abi)]
    assert names(symbols(shim, "--defined-only"), "MPI_") == set().union(*every) & known


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
@pytest.mark.parametrize("abi", sorted({mpi.abi for mpi in ALL}))
def test_libraries_of_one_abi_are_ordered_by_what_they_export(abi: str) -> None:
    every = [symbols(path, "--defined-only") for path in libraries(abi)]
    assert all(one < next_one for one, next_one in pairwise(every))


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_both_names_of_each_call_are_exported(shim: Path) -> None:
    exported = symbols(shim, "--defined-only")
    assert names(exported, "MPI_") == names(exported, "PMPI_")
    assert len(names(exported, "MPI_")) > 30


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_nothing_else_is_exported(mpi: Mpi, shim: Path) -> None:
    others = {name for name in symbols(shim, "--defined-only") if not re.match("P?MPI_", name)}
    assert others == {OF_THE_LAUNCHER, *OF_THINWIRE} | AFTER_FAILURES & symbols_of(mpi)


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_no_symbol_of_the_mpi_is_needed_to_load(shim: Path) -> None:
    needed = symbols(shim, "--undefined-only")
    assert needed
    assert {name for name in needed if re.match("P?MPI_|ompi_|opal_|PMIx_", name)} == set()


# A library with other calls than the program's MPI, preloaded by its full path: the program runs
# as without it or compressed, and the library says what does not fit.

OF_FEWER = [mpi for mpi in ALL if mpi.production != libraries(mpi.abi)[0]]
OF_MORE = [mpi for mpi in ALL if mpi.production != libraries(mpi.abi)[-1]]

# Asks for calls by name, as Python's extensions do, and calls what it finds.
ASKS = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
process = ctypes.CDLL(None)
process.MPI_Init(None, None)
flag, request, session = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
print(process.MPI_Session_init(None, None, ctypes.byref(session)) != 0,
      process.MPI_Isendrecv_replace(None, 0, None, 0, 0, 0, 0, None, ctypes.byref(request)) != 0)
process.MPI_Finalize()
"""


@pytest.mark.multiproc
@pytest.mark.parametrize("mpi", OF_FEWER, ids=lambda mpi: mpi.name)
def test_all_goes_raw_where_calls_of_the_mpi_would_pass_by(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.programs / EXCHANGE.name
    done = mpirun(2, [program], libraries(mpi.abi)[0], ZFP, tmp_path / "report", mpi=mpi)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0, 1: 0}
    assert done.report is None
    (line,) = done.thinwire_lines()
    assert "this MPI has MPI_" in line and "all messages go raw" in line


@pytest.mark.multiproc
@pytest.mark.parametrize("mpi", OF_MORE, ids=lambda mpi: mpi.name)
def test_calls_that_the_mpi_lacks_are_said(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.programs / EXCHANGE.name
    done = mpirun(2, [program], libraries(mpi.abi)[-1], ZFP, tmp_path / "report", mpi=mpi)
    assert done.code == 0, done.errors
    assert all(0 < lost < 1e-3 for lost in largest_differences(done.output).values())
    (line,) = done.thinwire_lines()
    assert "is for an MPI that has MPI_" in line and "thinwire shim mpi" in line


@pytest.mark.multiproc
@pytest.mark.skipif(SYSTEM not in OF_MORE, reason="the system's MPI has every call")
def test_calling_them_is_an_error() -> None:
    library = linked_mpi(SYSTEM.programs / "shim_conformance")
    words = [sys.executable, "-c", ASKS, library]
    done = mpirun(1, words, libraries(SYSTEM.abi)[-1], {"THINWIRE_CODEC": "off"})
    assert (done.code, done.output.strip()) == (0, "True True"), done.errors
