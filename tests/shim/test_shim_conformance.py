"""Plain MPI programs pass the same cases on the bare MPI and under the preload library."""

import re
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mpis import ALL, OTHERS, SYSTEM, Mpi
from shim_runs import PRODUCTION, PROGRAMS, SHRINK, TESTING, ZFP, Run, mpirun

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_conformance"


@dataclass(frozen=True)
class Configuration:
    mpi: Mpi
    library: Path | None
    settings: dict[str, str] = field(default_factory=dict, hash=False)


# The last two have every receive inspected and every probe looked at, while nothing is compressed;
# and a library that is there and does nothing.
CONFIGURATIONS = {
    "native": Configuration(SYSTEM, None),
    "shrink": Configuration(SYSTEM, TESTING, SHRINK),
    "raw": Configuration(SYSTEM, PRODUCTION, {**ZFP, "THINWIRE_THRESHOLD": "1GiB"}),
    "disabled": Configuration(SYSTEM, PRODUCTION, {**ZFP, "THINWIRE_DISABLE": "1"}),
}
for other in OTHERS:
    CONFIGURATIONS[f"{other.name}-native"] = Configuration(other, None)
    CONFIGURATIONS[f"{other.name}-shrink"] = Configuration(other, other.testing, SHRINK)
SHRINKING = [name for name in CONFIGURATIONS if name.endswith("shrink")]

# Lines that an MPI itself prints at its end, with the library or without.
NOISE = re.compile(r"\[WARNING\] yaksa: |.*OSC UCX component priority")

# Receives that the MPI itself truncates below the wire length never see a frame to decode, and
# the report at the end says that the sums differ.
LINES_EXPECTED = {
    (configuration, "truncation"): "compressed messages were sent and"
    for configuration in SHRINKING
}
# MPICH 5 says that a send it refused succeeded, after the program's error handler has returned.
LINES_EXPECTED |= {
    (configuration, "error_handlers"): "compressed messages were sent and"
    for configuration in SHRINKING
    if configuration.startswith("mpich-5")
}


def cases(mpi: Mpi) -> list[tuple[str, int, str]]:
    """(family, ranks, case) of each case that the MPI has the calls for; empty before the build."""
    program = mpi.programs / "shim_conformance"
    if not program.exists():
        return []
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [(family, int(ranks), name) for family, ranks, name in rows]


CASES = {mpi.name: cases(mpi) for mpi in ALL}
RANKS = {family: ranks for rows in CASES.values() for family, ranks, _ in rows}


def families(mpi: Mpi) -> list[str]:
    return list(dict.fromkeys(family for family, _, _ in CASES[mpi.name]))


# Configurations that are tested: the faults of another MPI are no matter of these tests.
TESTED = {name: chosen for name, chosen in CONFIGURATIONS.items() if not name.endswith("-native")}
RUNS = [(name, family) for name, chosen in TESTED.items() for family in families(chosen.mpi)]
CASE_RUNS = [
    (name, family, case)
    for name, chosen in TESTED.items()
    for family, _, case in CASES[chosen.mpi.name]
]


@cache
def run_family(configuration: str, family: str) -> Run:
    chosen = CONFIGURATIONS[configuration]
    program = [chosen.mpi.programs / "shim_conformance", family]
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.json") if chosen.library else None
        return mpirun(
            RANKS[family], program, chosen.library, chosen.settings, report, 60, chosen.mpi
        )


def native(configuration: str) -> str:
    return configuration.removesuffix("shrink") + "native"


def passes(configuration: str, family: str, case: str) -> bool:
    return f"PASS {case}" in run_family(configuration, family).output.splitlines()


def ends_well_natively(configuration: str, family: str) -> bool:
    return run_family(native(configuration), family).code == 0


def test_cases_are_listed() -> None:
    for rows in CASES.values():
        assert len(rows) > 100
        assert len({(family, case) for family, _, case in rows}) == len(rows)


@pytest.mark.parametrize(("configuration", "family", "case"), CASE_RUNS)
def test_case(configuration: str, family: str, case: str) -> None:
    done = run_family(configuration, family)
    failed = not passes(configuration, family, case)
    # Without the library it is run if there is something to excuse.
    if (
        failed
        and configuration.endswith("-shrink")
        and not passes(native(configuration), family, case)
    ):
        pytest.skip("this MPI fails without the library too")
    verdicts = [line for line in done.output.splitlines() if line.endswith(f" {case}")]
    hung = [line for line in done.output.splitlines() if line.startswith("HANG ")]
    notes = [line for line in done.output.splitlines() if line.startswith(f"  {case}:")]
    assert f"PASS {case}" in verdicts, "\n".join([*notes, *hung, done.errors])


@pytest.mark.parametrize(("configuration", "family"), RUNS)
def test_run_ends_well_and_silently(configuration: str, family: str) -> None:
    done = run_family(configuration, family)
    if (
        done.code != 0
        and configuration.endswith("-shrink")
        and not ends_well_natively(configuration, family)
    ):
        pytest.skip("this MPI does not without the library either")
    assert done.code == 0, done.errors
    expected = LINES_EXPECTED.get((configuration, family))
    lines = [line for line in done.errors.splitlines() if line.strip() and not NOISE.match(line)]
    if configuration == "raw":  # a high threshold: families of many small messages say so
        lines = [line for line in lines if "nothing was compressed: " not in line]
    if expected is None:
        assert lines == []
    else:
        (line,) = lines
        assert expected in line


@pytest.mark.parametrize(("configuration", "family"), [run for run in RUNS if run[0] in SHRINKING])
def test_every_compressed_message_is_decoded(configuration: str, family: str) -> None:
    done = run_family(configuration, family)
    if done.code != 0 and not ends_well_natively(configuration, family):
        pytest.skip("the MPI alone does not get through it")
    report = done.report
    assert report is not None
    assert report["compressed_messages"] > 0
    assert report["damaged_messages"] == 0
    if (configuration, family) not in LINES_EXPECTED:
        assert report["decoded_messages"] == report["compressed_messages"]


@pytest.mark.parametrize("family", families(SYSTEM))
def test_nothing_is_compressed_below_the_threshold(family: str) -> None:
    report = run_family("raw", family).report
    assert report is not None
    assert report["messages"] > 0
    assert report["compressed_messages"] == report["decoded_messages"] == 0


@pytest.mark.parametrize("family", families(SYSTEM))
def test_a_disabled_library_reports_nothing(family: str) -> None:
    assert run_family("disabled", family).report is None


def test_own_frames_arrive_unchanged() -> None:
    for name in ("native", "shrink", "raw", "disabled"):
        chosen = CONFIGURATIONS[name]
        done = mpirun(2, [PROGRAMS / "shim_frames", "own"], chosen.library, chosen.settings)
        assert (done.code, done.errors) == (0, ""), done.output + done.errors
        assert done.output.count("as it should be") == 2


def test_forged_frames_are_errors_with_one_line_each(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_THRESHOLD": "76"}
    program = [PROGRAMS / "shim_frames", "forged"]
    done = mpirun(2, program, PRODUCTION, settings, tmp_path / "report.json")
    assert done.code == 0, done.output + done.errors
    assert done.output.count("as it should be") == 2
    lines = done.errors.splitlines()
    # A line each, one of their sum, and one that says why this process' own messages went raw.
    assert len(lines) == 14
    assert sum("warning: nothing was compressed: " in line for line in lines) == 1
    assert sum("does not decode: chunk 0: checksum mismatch" in line for line in lines) == 4
    assert sum("does not decode: frame header: checksum mismatch" in line for line in lines) == 4
    assert sum("does not decode: this build has no codec" in line for line in lines) == 4
    assert done.report is not None
    assert done.report["damaged_messages"] == 12
