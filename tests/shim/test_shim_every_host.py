"""The library across hosts under every MPI: it is handed on, and payloads cross compressed."""

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mpis import ALL, Mpi
from shim_runs import SHRINK, Run, environment, largest_differences, read_report, stop
from test_shim_conformance import CASES, LINES_EXPECTED, NOISE, RANKS, families

from thinwire.lab import Lab, LabUnavailable

pytestmark = pytest.mark.multiproc

ROUNDS = 3
MESSAGE_BYTES = 1 << 20
THINWIRE_RUN = [sys.executable, "-m", "thinwire", "run"]
# Enough for CI; the others are for `make test-all`, and so is Debian's MPICH 4.0: now and then its
# ranks on several hosts do not end in MPI_Finalize, without the library too.
QUICK = ("receives",)
SLOW_MPI = "mpich"
EVERY_MPI = [
    pytest.param(mpi, marks=pytest.mark.slow if mpi.name == SLOW_MPI else (), id=mpi.name)
    for mpi in ALL
]


def lab_run(words: list[object], settings: dict[str, str], report: Path, seconds: float) -> Run:
    """On two hosts of a lab of its own, with slots for all ranks of a family."""
    wanted = {**settings, "THINWIRE_REPORT": str(report)}
    try:
        with Lab(hosts=2, link="none", ranks_per_host=4) as lab:
            started = lab.popen(
                [str(word) for word in words],
                env=environment(wanted),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            code: int | None
            try:
                output, errors = started.communicate(timeout=seconds)
                code = started.returncode
            except subprocess.TimeoutExpired:
                output, errors = stop(started)
                code = None
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    written = read_report(report) if report.exists() else None
    return Run(code, output, errors, written)


def preload_everywhere(mpi: Mpi, library: Path, settings: dict[str, str]) -> list[str]:
    """The launcher's words that give every rank `library`, which `thinwire run` does not know."""
    if mpi.abi == "openmpi":
        names = [word for name in (*settings, "THINWIRE_REPORT") for word in ("-x", name)]
        return [*mpi.launcher, *names, "-x", f"LD_PRELOAD={library}"]
    return [*mpi.launcher, "-genv", "LD_PRELOAD", str(library)]


@cache
def conformance(mpi: Mpi, family: str, under: bool) -> Run:
    program = [mpi.programs / "shim_conformance", family]
    with TemporaryDirectory() as folder:
        settings = SHRINK if under else {}
        words = preload_everywhere(mpi, mpi.testing, settings) if under else mpi.launcher
        ranks = ["-n", RANKS[family]]
        return lab_run([*words, *ranks, *program], settings, Path(folder, "report"), 120)


@pytest.mark.parametrize("mpi", EVERY_MPI)
def test_a_payload_crosses_hosts_compressed_and_right(mpi: Mpi, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = ["--codec", "zfp:rate=16", "--force", "--report", str(report)]
    options += ["--mpi", mpi.abi, "--"]
    launched = [*mpi.launcher, "-n", "2", str(mpi.programs / "shim_exchange"), str(MESSAGE_BYTES)]
    try:
        with Lab(hosts=2, link="none") as lab:
            words = [*THINWIRE_RUN, *options, *launched]
            done = lab.run(words, env=environment({}), capture_output=True, text=True, timeout=100)
            sent = {row["host"]: row["sent_bytes"] for row in lab.counters()}
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    assert done.returncode == 0, done.stderr
    differences = largest_differences(done.stdout)
    assert all(0 < differences[rank] < 1e-3 for rank in range(2))
    written = read_report(report)
    assert written["compressed_messages"] == written["decoded_messages"] == 2 * ROUNDS
    assert written["raw_by_reason"] == {}
    # 16 bits a value of 32, and the acknowledgements of the other direction.
    assert 0.5 * ROUNDS * MESSAGE_BYTES < sent["tw-lab-1"] < 0.7 * ROUNDS * MESSAGE_BYTES


@pytest.mark.parametrize("mpi", EVERY_MPI)
def test_a_host_without_the_library_gets_raw_data(mpi: Mpi, tmp_path: Path) -> None:
    """What the launcher says of a rank elsewhere that published nothing is that it did not."""
    program = str(mpi.programs / "shim_exchange")
    first = f'[ "${{PMIX_RANK:-$PMI_RANK}}" = 0 ] && export LD_PRELOAD={mpi.production}; exec "$0"'
    words = [*mpi.launcher, "-n", "2", "sh", "-c", first, program]
    done = lab_run(words, {"THINWIRE_CODEC": "zfp:rate=16"}, tmp_path / "report", 100)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0.0, 1: 0.0}
    assert len(done.thinwire_lines()) == 1 and "does not run this Thinwire" in done.errors
    assert read_report(tmp_path / "report.rank0")["compressed_messages"] == 0


def runs() -> list[object]:
    marks = {False: pytest.mark.slow, True: ()}

    def is_quick(mpi: Mpi, family: str) -> bool:
        return family in QUICK and mpi.name != SLOW_MPI

    return [
        pytest.param(mpi, family, marks=marks[is_quick(mpi, family)], id=f"{mpi.name}-{family}")
        for mpi in ALL
        for family in families(mpi)
    ]


@pytest.mark.parametrize(("mpi", "family"), runs())
def test_conformance_on_two_hosts(mpi: Mpi, family: str) -> None:
    done = conformance(mpi, family, under=True)
    passed = {line for line in done.output.splitlines() if line.startswith("PASS ")}
    wanted = {f"PASS {case}" for name, _, case in CASES[mpi.name] if name == family}
    if not wanted <= passed:
        native = conformance(mpi, family, under=False)
        wanted &= set(native.output.splitlines())
    assert wanted <= passed, done.output + done.errors
    assert done.code is not None or mpi.name == SLOW_MPI, "all cases passed, and it did not end"
    if passed and done.code == 0:
        check_report(done, mpi, family)


def check_report(done: Run, mpi: Mpi, family: str) -> None:
    """Of a run that ended well: what was compressed was decoded, and nothing was complained of."""
    name = "shrink" if mpi.name == "openmpi" else f"{mpi.name}-shrink"
    lines = [line for line in done.thinwire_lines() if not NOISE.match(line)]
    expected = LINES_EXPECTED.get((name, family))
    assert done.report is not None
    assert done.report["damaged_messages"] == 0
    assert done.report["compressed_messages"] > 0
    if expected is None:
        assert lines == []
        assert done.report["decoded_messages"] == done.report["compressed_messages"]
    else:
        assert len(lines) == 1 and expected in lines[0]
