"""Messages are compressed where that is faster, as timed beside raw ones, whatever the link's rate
is taken to be."""

import re
import subprocess
from pathlib import Path

import pytest
from mpis import ALL, BUILD, SYSTEM, Mpi
from shim_runs import Run, over_hosts

from thinwire.lab import Lab, LabUnavailable

pytestmark = [pytest.mark.multiproc, pytest.mark.alone]

AUTO = {"THINWIRE_CODEC": "auto", "THINWIRE_FORCE": "0", "THINWIRE_LOG": "plan"}
SLOW_COUNTERS = BUILD / "tests" / "shim" / "libshim_slow_tcp_info.so"
ROUNDS, ATTEMPTS = 60, 4
# A message takes 4 ms natively. On a machine that is busy the link is as slow as it seems.
BUSY_MILLISECONDS = 8
DECISION = re.compile(
    r"send of f32, .*, to another node, .*: timed: raw took [\d.]+ \w+ and compressed "
    r"[\d.]+ \w+, faster by -?[\d.]+ standard deviations, so (\w+) \(timing round \d+\)"
)
# The others are for `make test-all`.
EVERY_MPI = [
    pytest.param(mpi, marks=() if mpi is SYSTEM else pytest.mark.slow, id=mpi.name) for mpi in ALL
]


def messages(
    mpi: Mpi, link: str, settings: dict[str, str], report: Path, beside: list[Path]
) -> tuple[Run, float]:
    """Those of the program, with a pause before each, and the milliseconds that one takes."""
    words: list[str | Path] = [mpi.programs / "shim_beside", "pause", str(ROUNDS)]
    try:
        with Lab(hosts=2, link=link) as lab:
            done = over_hosts(lab, 2, words, settings, report, timeout=120, mpi=mpi, beside=beside)
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    except subprocess.TimeoutExpired:
        if mpi.name != "mpich":  # Debian's 4.0 now and then does not end, without the library too
            raise
        pytest.skip("this MPI does not end")
    assert done.code == 0, done.errors
    assert "0 wrong" in done.output
    (milliseconds,) = re.findall(r"(\S+) ms", done.output)
    return done, float(milliseconds)


def decisions(done: Run) -> list[str]:
    return [found[1] for line in done.thinwire_lines() if (found := DECISION.search(line))]


@pytest.mark.parametrize("mpi", EVERY_MPI)
def test_a_rate_that_is_too_low_compresses_little(mpi: Mpi, tmp_path: Path) -> None:
    for _ in range(ATTEMPTS):
        report = tmp_path / "report.json"
        done, milliseconds = messages(mpi, "10gbit", AUTO, report, [SLOW_COUNTERS])
        assert done.report is not None
        if done.report["compressed_messages"] <= ROUNDS // 3:
            assert set(decisions(done)) <= {"raw"}
            return
        _, natively = messages(
            mpi, "10gbit", {"THINWIRE_CODEC": "off"}, tmp_path / "native.json", []
        )
        assert milliseconds < natively or natively > BUSY_MILLISECONDS, (done.report, natively)
    pytest.skip("the machine is busy: messages take as long as on a slow link")


@pytest.mark.parametrize("mpi", EVERY_MPI)
def test_what_gains_stays_compressed(mpi: Mpi, tmp_path: Path) -> None:
    done, _ = messages(mpi, "200mbit", AUTO, tmp_path / "report.json", [])
    assert done.report is not None
    assert done.report["compressed_messages"] >= ROUNDS * 3 // 4, done.report
    assert decisions(done)[-1] == "compressed"
    assert done.report["predicted_saved_seconds"] > 0


def test_tests_that_find_nothing_are_no_waits(tmp_path: Path) -> None:
    """Else what is timed is the start of a send alone, which encoding only makes longer."""
    messages_in_all, compressed = 16 * 20, []
    program: list[str | Path] = [SYSTEM.programs / "shim_tested_bursts", "20"]
    for attempt in range(ATTEMPTS):
        report = tmp_path / f"report-{attempt}.json"
        try:
            with Lab(hosts=2, link="500mbit") as lab:
                done = over_hosts(lab, 2, program, AUTO, report, timeout=120)
        except LabUnavailable as error:
            pytest.skip(f"no lab here: {error}")
        assert done.code == 0 and "0 wrong" in done.output, done.errors
        assert done.report is not None
        compressed.append(done.report["compressed_messages"])
        if compressed[-1] > messages_in_all // 3:
            return
    raise AssertionError(f"{compressed} of {messages_in_all} messages compressed")


# Ways to complete messages of which several are in flight.
IN_FLIGHT = [
    *("Wait", "Test", "Waitall", "Testall", "Waitany", "Testany", "Waitsome", "Testsome"),
    *("Start", "threads", "Sendrecv"),
]


@pytest.mark.parametrize("how", IN_FLIGHT)
def test_messages_that_are_in_flight_are_seen_to_complete(how: str, tmp_path: Path) -> None:
    """Else they would be taken for 64 in flight, and a trial take longer than the program."""
    program: list[str | Path] = [SYSTEM.programs / "shim_in_flight", how, "120", "4"]
    settings = AUTO | {"THINWIRE_LINK": "200mbit"}
    try:
        with Lab(hosts=2, link="200mbit") as lab:
            done = over_hosts(lab, 2, program, settings, tmp_path / "report.json", timeout=120)
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    assert done.code == 0 and "0 wrong" in done.output, done.errors
    assert decisions(done)


def test_a_program_that_always_sends_ahead_learns_the_links_rate(tmp_path: Path) -> None:
    """More than the system's buffers hold, so that the MPI holds some of the messages."""
    program: list[str | Path] = [SYSTEM.programs / "shim_in_flight", "Wait", "160", "16"]
    try:
        with Lab(hosts=2, link="200mbit") as lab:
            done = over_hosts(lab, 2, program, AUTO, tmp_path / "report.json", timeout=120)
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    assert done.code == 0 and "0 wrong" in done.output, done.errors
    assert done.report is not None
    assert done.report["raw_by_reason"].get("the link's rate is not known", 0) < 80, done.report
