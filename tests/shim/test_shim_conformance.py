"""Plain MPI programs pass the same cases on the bare MPI and under the preload library."""

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from shim_runs import PRODUCTION, PROGRAMS, SHRINK, TESTING, ZFP, Run, mpirun

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_conformance"

# The last two have every receive hooked and every probe looked at, while nothing is compressed;
# and a library that is there and does nothing.
CONFIGURATIONS: dict[str, tuple[Path | None, dict[str, str]]] = {
    "native": (None, {}),
    "shrink": (TESTING, SHRINK),
    "raw": (PRODUCTION, {**ZFP, "THINWIRE_THRESHOLD": "1GiB"}),
    "disabled": (PRODUCTION, {**ZFP, "THINWIRE_DISABLE": "1"}),
}

# Receives that the MPI itself truncates below the wire length never see a frame to decode, and
# the report at the end says that the sums differ.
LINES_EXPECTED = {("shrink", "truncation"): "compressed messages were sent and"}


def cases() -> list[tuple[str, int, str]]:
    """(family, ranks, case) of every case; empty before the build."""
    if not PROGRAM.exists():
        return []
    listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [(family, int(ranks), name) for family, ranks, name in rows]


CASES = cases()
FAMILIES = {family: ranks for family, ranks, _ in CASES}


@cache
def run_family(configuration: str, family: str) -> Run:
    library, settings = CONFIGURATIONS[configuration]
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.json") if library else None
        return mpirun(FAMILIES[family], [PROGRAM, family], library, settings, report, timeout=60)


def test_cases_are_listed() -> None:
    assert len(CASES) > 100
    assert len({(family, case) for family, _, case in CASES}) == len(CASES)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize(("family", "case"), [(family, case) for family, _, case in CASES])
def test_case(configuration: str, family: str, case: str) -> None:
    done = run_family(configuration, family)
    verdicts = [line for line in done.output.splitlines() if line.endswith(f" {case}")]
    hung = [line for line in done.output.splitlines() if line.startswith("HANG ")]
    notes = [line for line in done.output.splitlines() if line.startswith(f"  {case}:")]
    assert f"PASS {case}" in verdicts, "\n".join([*notes, *hung, done.errors])


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_run_ends_well_and_silently(configuration: str, family: str) -> None:
    done = run_family(configuration, family)
    assert done.code == 0, done.errors
    expected = LINES_EXPECTED.get((configuration, family))
    if expected is None:
        assert done.errors == ""
    else:
        (line,) = done.errors.splitlines()
        assert expected in line


@pytest.mark.parametrize("family", FAMILIES)
def test_every_compressed_message_is_decoded(family: str) -> None:
    report = run_family("shrink", family).report
    assert report is not None
    assert report["compressed_messages"] > 0
    assert report["damaged_messages"] == 0
    if family != "truncation":
        assert report["decoded_messages"] == report["compressed_messages"]


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_compressed_below_the_threshold(family: str) -> None:
    report = run_family("raw", family).report
    assert report is not None
    assert report["messages"] > 0
    assert report["compressed_messages"] == report["decoded_messages"] == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_a_disabled_library_reports_nothing(family: str) -> None:
    assert run_family("disabled", family).report is None


def test_own_frames_arrive_unchanged() -> None:
    for library, settings in CONFIGURATIONS.values():
        done = mpirun(2, [PROGRAMS / "shim_frames", "own"], library, settings)
        assert (done.code, done.errors) == (0, ""), done.output + done.errors
        assert done.output.count("as it should be") == 2


def test_forged_frames_are_errors_with_one_line_each(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_THRESHOLD": "76"}
    program = [PROGRAMS / "shim_frames", "forged"]
    done = mpirun(2, program, PRODUCTION, settings, tmp_path / "report.json")
    assert done.code == 0, done.output + done.errors
    assert done.output.count("as it should be") == 2
    lines = done.errors.splitlines()
    assert len(lines) == 13
    assert sum("does not decode: chunk 0: checksum mismatch" in line for line in lines) == 4
    assert sum("does not decode: frame header: checksum mismatch" in line for line in lines) == 4
    assert sum("does not decode: this build has no codec" in line for line in lines) == 4
    assert done.report is not None
    assert done.report["damaged_messages"] == 12
