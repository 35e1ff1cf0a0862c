"""Tools that stand between a program and its MPI, with the library: before it, after it, and linked
into the program. Results are those of a native run, and a tool counts the calls that it counts
natively.

THINWIRE_TEST_TOOLS names folders of tools that were built for an MPI, as `mpich:/opt/mpiP/lib`,
joined by commas. What is not there skips.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shim"))

from mpis import ALL  # noqa: E402
from shim_runs import Run, run  # noqa: E402

pytestmark = pytest.mark.multiproc

HERE = Path(__file__).resolve().parent
CODEC = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "-n", "2"],
    "mpich": ["mpirun.mpich", "-n", "2"],
}
MESSAGES, CALLS = 9, 9  # of both ranks; that rank 0 makes
ORDERS = ("before", "after", "linked")
JEMALLOC = "libjemalloc.so.2"


@pytest.fixture(scope="module", params=LAUNCHERS)
def mpi(request: pytest.FixtureRequest) -> str:
    for program in (f"mpicc.{request.param}", LAUNCHERS[request.param][0]):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    return request.param


@pytest.fixture(scope="module")
def folder(mpi: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tools")
    compile_(mpi, made / "program", "measured_program.c")
    for name, flags in (("tool", []), ("looking", ["-DLOOKS_UP"])):
        compile_(mpi, made / f"lib{name}.so", "counting_tool.c", "-shared", "-fPIC", *flags)
        linked = ["-Wl,--no-as-needed", f"-L{made}", f"-l{name}", f"-Wl,-rpath,{made}"]
        compile_(mpi, made / f"linked-{name}", "measured_program.c", *linked)
    return made


def compile_(mpi: str, made: Path, source: str, *flags: str) -> None:
    words = [f"mpicc.{mpi}", "-O1", "-o", made, HERE / source, *flags]
    subprocess.run(words, check=True, capture_output=True)


def job(mpi: str, program: list[Path | str], preload: list[Path | str], **wanted) -> Run:
    named = [f"LD_PRELOAD={':'.join(map(str, preload))}"] if preload else []
    return run([*LAUNCHERS[mpi], "env", *named, *program], **wanted, timeout=180)


def hashes(done: Run) -> list[str]:
    assert done.code == 0, done.output + done.errors
    return sorted(re.findall(r"rank \d saw \w+", done.output))


def library(mpi: str) -> Path:
    return next(known.production for known in ALL if known.name == mpi)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("tool", ["tool", "looking"])
def test_a_tool_counts_what_it_counts_natively(
    mpi: str, folder: Path, tool: str, order: str, tmp_path: Path
) -> None:
    program = folder / (f"linked-{tool}" if order == "linked" else "program")
    named: list[Path | str] = [] if order == "linked" else [folder / f"lib{tool}.so"]
    native = job(mpi, [program], named)
    assert f"the tool has counted {CALLS} calls" in native.output, native.output + native.errors
    preload = [library(mpi), *named] if order == "after" else [*named, library(mpi)]
    done = job(mpi, [program], preload, settings=CODEC, report=tmp_path / "report.json")
    assert hashes(done) == hashes(native) and len(hashes(done)) == 2
    assert f"the tool has counted {CALLS} calls" in done.output
    assert done.thinwire_lines() == []
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == MESSAGES
    assert done.collectives["compressed"] == 3 * 2


def test_an_allocator(mpi: str, folder: Path, tmp_path: Path) -> None:
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    if JEMALLOC not in found:
        pytest.skip("no libjemalloc2 (Debian)")
    native = job(mpi, [folder / "program"], [])
    for preload in ([JEMALLOC, library(mpi)], [library(mpi), JEMALLOC]):
        report = tmp_path / "report.json"
        done = job(mpi, [folder / "program"], preload, settings=CODEC, report=report)
        assert hashes(done) == hashes(native) and done.thinwire_lines() == []
        assert done.report is not None and done.report["compressed_messages"] == MESSAGES


def test_valgrind(mpi: str, folder: Path, tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    if "avx512f" in Path("/proc/cpuinfo").read_text():
        pytest.skip("valgrind does not know AVX-512, which the codecs take on this processor")
    words = ["valgrind", "--quiet", "--error-exitcode=0", folder / "program"]
    done = job(mpi, words, [library(mpi)], settings=CODEC, report=tmp_path / "report.json")
    assert hashes(done) == hashes(job(mpi, [folder / "program"], []))
    assert done.report is not None and done.report["compressed_messages"] == MESSAGES
    assert "libthinwire" not in done.errors


def test_an_address_sanitised_program(mpi: str, folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "sanitised"
    compile_(mpi, program, "measured_program.c", "-fsanitize=address", "-g")
    settings = {"ASAN_OPTIONS": "detect_leaks=0"}
    native = job(mpi, [program], [], settings=settings)
    # The sanitizer's runtime has to come first, or be told that it need not.
    settings["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
    report = tmp_path / "report.json"
    done = job(mpi, [program], [library(mpi)], settings={**CODEC, **settings}, report=report)
    assert hashes(done) == hashes(native)
    assert done.report is not None and done.report["compressed_messages"] == MESSAGES


def built_tool(mpi: str, name: str) -> Path:
    for entry in os.environ.get("THINWIRE_TEST_TOOLS", "").split(","):
        whose, _, where = entry.partition(":")
        if whose == mpi and (Path(where) / name).exists():
            return Path(where) / name
    pytest.skip(f"no {name} for {mpi} in THINWIRE_TEST_TOOLS")


def counted_by_mpip(text: str) -> list[tuple[str, ...]]:
    """Call, rank and count of each call site."""
    table = text.split("Callsite Time statistics")[1]
    return re.findall(r"^(Sendrecv|Send|Recv|Allreduce)\s+\d+\s+(\d+|\*)\s+(\d+)\s", table, re.M)


@pytest.mark.parametrize("order", ["before", "after"])
def test_mpip(mpi: str, folder: Path, order: str, tmp_path: Path) -> None:
    tool = built_tool(mpi, "libmpiP.so")
    counted = {}
    for name, preload in (
        ("native", [tool]),
        ("ours", [tool, library(mpi)] if order == "before" else [library(mpi), tool]),
    ):
        where = tmp_path / name
        where.mkdir()
        settings = {**CODEC, "MPIP": f"-f {where}"}
        report = None if name == "native" else tmp_path / "report.json"
        done = job(mpi, [folder / "program"], preload, settings=settings, report=report)
        (text,) = [path.read_text() for path in where.glob("*.mpiP")]
        counts = counted_by_mpip(text)
        counted[name] = (hashes(done), sorted(counts))
        assert len(counts) > 5, text
    assert counted["ours"] == counted["native"]
    assert done.report is not None and done.report["compressed_messages"] == MESSAGES


@pytest.mark.parametrize("order", ["before", "after"])
def test_darshan(mpi: str, folder: Path, order: str, tmp_path: Path) -> None:
    tool = built_tool(mpi, "libdarshan.so")
    preload = [tool, library(mpi)] if order == "before" else [library(mpi), tool]
    settings = {**CODEC, "DARSHAN_LOGPATH": str(tmp_path)}
    done = job(mpi, [folder / "program"], preload, settings=settings, report=tmp_path / "r.json")
    assert hashes(done) == hashes(job(mpi, [folder / "program"], []))
    assert len(list(tmp_path.rglob("*.darshan"))) == 1, done.errors
    assert done.report is not None and done.report["compressed_messages"] == MESSAGES


def counted_by_ipm(text: str) -> list[tuple[str, ...]]:
    """Call and count over both ranks, of its table of calls."""
    return re.findall(r"^# MPI_(Sendrecv|Send|Recv|Allreduce)\s+[\d.]+\s+(\d+)\s", text, re.M)


@pytest.mark.parametrize("order", ["before", "after"])
def test_ipm(mpi: str, folder: Path, order: str, tmp_path: Path) -> None:
    tool = built_tool(mpi, "libipm.so")
    settings = {**CODEC, "IPM_REPORT": "full", "IPM_LOG": "none"}
    native = job(mpi, [folder / "program"], [tool], settings=settings)
    preload = [tool, library(mpi)] if order == "before" else [library(mpi), tool]
    done = job(mpi, [folder / "program"], preload, settings=settings, report=tmp_path / "r.json")
    assert hashes(done) == hashes(native)
    counts = sorted(counted_by_ipm(native.output + native.errors))
    assert len(counts) == 4, native.output + native.errors
    assert sorted(counted_by_ipm(done.output + done.errors)) == counts
    assert done.report is not None and done.report["compressed_messages"] == MESSAGES


def test_programs_that_a_rank_starts_see_nothing(mpi: str, folder: Path, tmp_path: Path) -> None:
    """No word, no thread and no file of ours in a shell, a Python and a compiler."""
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    script = tmp_path / "script"
    count = "import os; print(len(os.listdir('/proc/self/task')))"
    script.write_text(
        "#!/bin/sh\nset -e\n"
        f'{sys.executable} -c "{count}" >{tmp_path}/threads.$$\n'
        f"cc -o {tmp_path}/empty.$$ {tmp_path}/empty.c\n{tmp_path}/empty.$$\n"
    )
    script.chmod(0o755)
    settings = {**CODEC, "THINWIRE_TRACE": str(tmp_path / "trace")}
    native = job(mpi, [folder / "program", script], [])
    done = job(mpi, [folder / "program", script], [library(mpi)], settings=settings)
    assert hashes(done) == hashes(native) and "failed" not in done.output
    assert done.errors == native.errors
    assert [path.read_text() for path in tmp_path.glob("threads.*")] == ["1\n"] * 4
    # Each rank writes a trace, and no other process does.
    assert len(list(tmp_path.glob("trace*"))) == 2
