"""One failing row of a bench leaves the others; progress says how much is left."""

import io
import json
import subprocess
import tempfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from thinwire.bench import collective, overhead, p2p, p2p_rows, raw, raw_rows, steps
from thinwire.bench.output import failed_row
from thinwire.bench.p2p_rows import P2pRow
from thinwire.bench.programs import BenchError, Loopback, RunError, read_report, result_lines
from thinwire.cli import bench_options
from thinwire.cli.bench_options import measure_places
from thinwire.lab import LabError

WORDS = ("collective", "--loopback", "--ranks", "2", "--op", "bcast", "--size", "64KiB,128KiB")


def quiet(words: str) -> nullcontext[None]:
    return nullcontext()


@pytest.mark.multiproc
def test_a_collective_that_crashes_is_a_row(bench, program, monkeypatch) -> None:
    real = collective.run_program

    def crashes(place, command, timeout):
        lines = real(place, command, timeout)
        bad = [line["codec"] == "mpc:stride=1" and line["bytes"] == 131072 for line in lines]
        if all(bad):
            raise RunError("exited 139: Segmentation fault")
        return lines[: bad.index(True)] if any(bad) else lines

    monkeypatch.setattr(collective, "run_program", crashes)
    codecs = ("--codec", "zfp:rate=8", "--codec", "mpc")
    done = bench(*WORDS, *codecs, "--iterations", "1", "--program", program("collective"), "--json")
    assert done.exit_code == 1
    rows = json.loads(done.stdout)
    keys = [(row["size"], row["codec"]) for row in rows]
    assert keys == [(s, c) for s in (65536, 131072) for c in ("zfp:rate=8", "mpc:stride=1")]
    assert [row["verified"] for row in rows] == [True, True, True, False]
    assert rows[-1]["note"] == "failed: exited 139: Segmentation fault"
    assert rows[-1]["seconds"] is None and "FAILED" in done.stderr


def test_a_codec_that_fails_under_p2p_is_left_out(monkeypatch) -> None:
    ran = []

    def run_once(place, session, data, runs, spec=None, **others):
        ran.append(spec)
        if spec == "mpc:stride=1":
            raise RunError("it broke")
        line = {"median": 1.0, "min": 1.0, "verified": True, "identical": True, "max_error": 0.0}
        runs.rounds.append({size: line | {"messages": 1} for size in (8, 65536)})
        if spec:
            runs.reports.append(
                {"compressed_messages": 0, "decoded_messages": 0, "damaged_messages": 0}
            )

    monkeypatch.setattr(p2p, "run_once", run_once)
    codecs = tuple(p2p.Codec(spec) for spec in ("mpc", "zfp:rate=8"))
    values = np.zeros(16384, np.float32)
    session = p2p.Session(Path("p2p"), values, (65536,), codecs, 1, 2, quiet)
    raw = p2p.Expected(compressed=False, identical=True)
    monkeypatch.setattr(
        p2p_rows, "expect_all", lambda session: {(c.spec, 65536): raw for c in codecs}
    )
    failed, sound = p2p_rows.measure(Loopback(), session)
    assert ran == [None, "mpc:stride=1", "zfp:rate=8", None, "zfp:rate=8"]
    assert (failed.codec, failed.verified, failed.note) == (
        "mpc:stride=1",
        False,
        "failed: it broke",
    )
    assert sound.codec == "zfp:rate=8" and sound.verified


def test_raw_measures_each_size_alone_after_a_failure(monkeypatch) -> None:
    asked = []

    def run_pairs(place, session):
        asked.append(session.sizes)
        if 4096 in session.sizes:
            raise RunError("no answer")
        return session.sizes

    monkeypatch.setattr(raw_rows, "run_pairs", run_pairs)
    monkeypatch.setattr(raw_rows, "make_rows", lambda place, session, sizes: list(sizes))
    session = raw_rows.RawSession(
        Path("raw"), (4096, 8192), (2, 2), 1, raw.Setting.NONE, "mpc", quiet
    )
    failed, sound = raw_rows.measure(Loopback(), session)
    assert asked == [(4096, 8192), (4096,), (8192,)]
    assert (failed.bytes, failed.note, sound) == (4096, "failed: no answer", 8192)


def test_an_alternation_that_fails_is_a_row(monkeypatch) -> None:
    turns = iter([None, None, RunError("killed"), None, None])

    def run(command):
        outcome = next(turns)
        if outcome:
            raise outcome
        return {4: {"verified": True, "nanoseconds": 7.0, "messages": 3, "bytes": 4}}

    monkeypatch.setattr(overhead, "_run", run)
    monkeypatch.setattr(
        overhead, "read_report", lambda path: {"messages": 3, "compressed_messages": 0}
    )
    sound, failed = overhead.measure(Path("overhead"), "mpc", 3, 1, quiet)
    assert sound.verified and sound.alternations == 2
    assert not failed.verified and failed.note == "failed: killed"


def test_a_link_that_fails_is_a_row(monkeypatch) -> None:
    class Lab:
        def __init__(self, hosts, link, ranks_per_host, name, gpus):
            self.link = link

        def __enter__(self):
            if self.link == "1gbit":
                raise LabError("no room")
            return self

        def __exit__(self, *error):
            return None

    monkeypatch.setattr(bench_options, "Lab", Lab)
    monkeypatch.setattr(bench_options, "LabPlace", lambda lab: lab.link)
    good = failed_row(P2pRow, "")

    def measure(link):
        if link == "3gbit":
            raise KeyboardInterrupt
        return [replace(good, link=link, verified=True, note="")]

    links = ["100mbit", "1gbit", "2gbit", "3gbit", "4gbit"]
    rows = measure_places(links, 2, 1, P2pRow, measure)
    assert [(row.link, row.verified) for row in rows] == [
        ("100mbit", True), ("1gbit", False), ("2gbit", True), ("3gbit", False),
    ]  # fmt: skip
    assert rows[1].note == "failed: no room" and rows[3].note == "failed: interrupted"


def test_where_nothing_can_run_there_are_no_rows() -> None:
    def measure(place):
        raise BenchError("there is no mpirun on PATH")

    with pytest.raises(BenchError):
        measure_places([], 2, 1, P2pRow, measure)


def test_time_left_is_that_of_the_steps_done() -> None:
    assert steps.seconds_left(0, 4, 0.0, 9.0) is None
    assert steps.seconds_left(2, 4, 20.0, 0.0) == 20
    assert steps.seconds_left(2, 4, 20.0, 6.0) == 14
    assert steps.seconds_left(3, 4, 30.0, 60.0) == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_steps_say_how_many_there_are(monkeypatch, terminal: bool) -> None:
    monkeypatch.setenv("TERM", "xterm")  # one that can redraw a line
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=terminal, color_system=None, width=100)
    monkeypatch.setattr(steps, "messages", console)
    monkeypatch.setattr("thinwire.bench.output.messages", console)
    with steps.steps(2) as step:
        for number in range(3):
            with step(f"case {number}"):
                console.print("")
    said = shown.getvalue()
    assert "case 0" in said and "case 2" in said
    if terminal:
        assert "1/2" in said and "left" in said
    else:
        assert said.split("\n")[0] == "[1/2] case 0"


# Leftovers of a launcher that is killed, as one that does not end in time after an interrupt.

LAUNCHER = 'mkdir "${OMPI_MCA_orte_tmpdir_base:-$TMPDIR}/ompi.host.0" && exec sleep 31.7'


def test_the_files_of_a_launcher_that_is_killed_go_with_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(subprocess.TimeoutExpired):
        Loopback().run(["sh", "-c", LAUNCHER], timeout=1.5)
    assert list(tmp_path.iterdir()) == []


# Reports that benchmarks read of programs: half of it is a failed run, in words.


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"messages": 1}', '{"messages": NaN}'])
def test_half_a_report_is_a_failed_run(text: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(RunError, match=r"report\.json: this is no report of a job"):
        read_report(path)


def test_lines_that_are_no_results_are_passed_over() -> None:
    said = 'a word\n{"a": 1}\n{"a": \n{not json}\n{"b": 2}'
    assert result_lines(said) == [{"a": 1}, {"b": 2}]
