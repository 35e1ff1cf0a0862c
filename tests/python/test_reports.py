"""`thinwire report` of reports: sums of a job, whatever is wrong with some of its files."""

import json
import os
import subprocess
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from changed import changed, limit, seeds, within
from made_reports import REASON, mpi_report, nccl_operation, nccl_report, write_job

from thinwire import reports
from thinwire.reports.read import MOST_BYTES
from thinwire.reports.sums import MOST_OPERATIONS, MOST_REASONS, OTHERS, SEVERAL
from thinwire.traces import files_of

MOST_MEMORY = 1 << 20
MOST_SECONDS = 30


def thinwire(
    *words: str | Path, most_memory: int | None = None, **variables: str
) -> "subprocess.CompletedProcess[str]":
    command = within(most_memory, "report", *words)
    kept = {name: value for name, value in os.environ.items() if name != "SLURM_JOB_ID"}
    return subprocess.run(command, capture_output=True, text=True, env=kept | variables)


def write(path: Path, report: Any) -> Path:
    path.write_text(json.dumps(report) + "\n")
    return path


def merged(*paths: Path) -> reports.Merged:
    return reports.merge(paths, "job", pytest.fail)


def test_sums_of_a_job_of_both_libraries(tmp_path: Path) -> None:
    mpi = write(tmp_path / "job", mpi_report())
    ranks = files_of([write_job(tmp_path, 3).with_name("job.nccl.rank0"), mpi])
    found = merged(*ranks, tmp_path / "job.nccl.rank1", mpi)
    assert found.reports == 3 and found.left_out == 0
    sums = found.sums
    assert sums.codec == SEVERAL
    assert vars(sums.nccl.operations["AllReduce"]) == {
        "calls": 40,
        "compressed_calls": 20,
        "bytes": 40000,
        "sent_bytes": 28000,
        "compressed_bytes": 20000,
        "compressed_sent_bytes": 8000,
    }
    assert sums.nccl.raw == {("AllReduce", REASON): 20, ("Send", REASON): 8}
    assert vars(sums.mpi.operations["collectives"]) == {
        "calls": 5,
        "compressed_calls": 2,
        "bytes": 500024,
        "sent_bytes": 100024,
        "compressed_bytes": 500000,
        "compressed_sent_bytes": 100000,
    }
    assert sums.mpi.operations["send"].sent_bytes == 1600000
    assert sums.saved_seconds == {"send": 1.5, "collectives": -0.125}
    assert sums.scratch_peak_bytes == {"gpu": 4096 + (4 << 20), "host": 4096, "pinned": 4096}
    assert (sums.damaged_messages, sums.spilled_blocks) == (1, 8)
    assert sums.raw_by_reason() == {REASON: 38, "below the threshold": 3}


def test_time_saved_is_told_if_it_is_known(tmp_path: Path) -> None:
    done = thinwire(write(tmp_path / "a", mpi_report()))
    assert done.stdout.endswith(f'saved_seconds=1.375 raw="{REASON}: 10, below the threshold: 3"\n')


def test_the_command_prints_a_line_and_sums(tmp_path: Path) -> None:
    job = write_job(tmp_path, 4)
    done = thinwire(job)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "job=job reports=4 left_out=0 codec=lossless calls=112 compressed_calls=56 bytes=112000 "
        f'sent_bytes=78400 damaged_messages=0 raw="{REASON}: 56"\n'
    )
    done = thinwire(job, "--json", SLURM_JOB_ID="17")
    found = json.loads(done.stdout)
    assert (found["job"], found["reports"]) == ("17", 4)
    assert found["nccl"]["raw"] == {"AllReduce": {REASON: 40}, "Send": {REASON: 16}}
    assert found["ended"] == pytest.approx(time.time(), abs=60)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no whole report"),
        (json.dumps(mpi_report())[:-40], "no whole report"),
        (json.dumps(nccl_report(1))[:200], "no whole report"),
        (json.dumps(mpi_report(messages=-1)), "messages is no number"),
        (json.dumps(mpi_report(predicted_saved_seconds=1e300)), "predicted_saved_seconds"),
        ('{"codec": "mpc"}', "collectives is missing"),
        ('{"codec": "mpc", "communicators": [1]}', "a communicator has no fields"),
    ],
)
def test_a_damaged_report_is_named_and_the_others_are_merged(
    text: str, says: str, tmp_path: Path
) -> None:
    job = write_job(tmp_path, 3)
    bad = tmp_path / "job.nccl.rank0"
    bad.write_text(text)
    done = thinwire(job)
    assert done.returncode == 1
    assert done.stderr.startswith(f"thinwire: error: {bad}: ") and says in done.stderr
    assert done.stdout.startswith("job=job reports=2 left_out=1 codec=lossless calls=56 ")


def test_a_report_of_a_thousand_communicators_is_a_small_part_of_the_bound(tmp_path: Path) -> None:
    """Each with six operations and five timings, which take 3.8 KB."""
    path = write(tmp_path / "report", nccl_report(0, 1000, operations=6, timings=5))
    print(f"{path.stat().st_size} bytes")
    assert merged(path).sums.nccl.operations["AllReduce"].calls == 10_000
    assert 3 << 20 < path.stat().st_size < MOST_BYTES / 4


@pytest.mark.parametrize("size", [60 << 20, MOST_BYTES])
def test_lists_of_nothing_take_a_bounded_memory(size: int, tmp_path: Path) -> None:
    """Every three bytes of such a file are 72 in memory."""
    job, bad = write_job(tmp_path, 2), tmp_path / "bad"
    begin, end = b'{"codec": "mpc", "communicators": [', b"[]]}"
    bad.write_bytes(begin + (size - len(begin) - len(end)) // 3 * b"[]," + end)
    done = thinwire(bad, job, most_memory=1 << 30)
    assert done.returncode == 1 and f"{bad}: this is no whole report: " in done.stderr
    assert done.stdout.startswith("job=bad reports=2 left_out=1 ")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    job = write_job(tmp_path, 2)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said: list[str] = []
    with limit(3):
        found = reports.merge([pipe, *files_of([job])], "job", said.append)
    assert found.reports == 2 and said == [f"{pipe}: this is no whole report: it is no file"]


def test_nothing_is_handed_on_if_no_report_is_whole(tmp_path: Path) -> None:
    bad = tmp_path / "job"
    bad.write_text('{"codec": "mpc"')
    done = thinwire(bad, "--prometheus", tmp_path / "out.prom")
    assert done.returncode == 1 and "no report could be read" in done.stderr
    assert sorted(tmp_path.iterdir()) == [bad] and done.stdout == ""


def test_texts_of_a_report_stay_short_and_on_one_line(tmp_path: Path) -> None:
    """Whoever wrote the report writes no lines of his own into a log."""
    codec = "mpc\nthinwire: job=other \x1b[31m" + 500 * "x"
    bad = write(tmp_path / "a b", mpi_report(codec=codec, raw_by_reason={'a "\\\n': 3}))
    done = thinwire(bad)
    assert done.returncode == 0 and done.stdout.count("\n") == 1 and len(done.stdout) < 600
    assert 'job="a b" ' in done.stdout and "\x1b" not in done.stdout
    assert ' raw="a \\"\\\\?: 3, below the threshold: 3"\n' in done.stdout


def test_what_reports_say_has_bounds(tmp_path: Path) -> None:
    """Of operations and reasons that no library has: no figure is lost."""
    many = nccl_report(0, 1)
    many["communicators"][0]["operations"] = {
        f"Operation{number}": nccl_operation(2, f"reason {number}") for number in range(1000)
    }
    found = merged(write(tmp_path / "a", many), write(tmp_path / "b", many)).sums.nccl
    assert len(found.operations) == MOST_OPERATIONS + 1
    assert sum(each.calls for each in found.operations.values()) == 4000
    assert found.operations[OTHERS].calls == 4000 - 4 * MOST_OPERATIONS
    assert len(found.raw) <= MOST_REASONS + MOST_OPERATIONS + 1
    assert sum(found.raw.values()) == 2000


def test_a_thousand_reports_take_the_memory_of_one(tmp_path: Path) -> None:
    job = write_job(tmp_path, 1000, communicators=20)
    paths = files_of([job])
    total = sum(path.stat().st_size for path in paths)
    start = time.process_time()
    tracemalloc.start()
    try:
        found = merged(*paths)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    took = time.process_time() - start
    print(f"{total} bytes of reports: {most} bytes at most, {took:.2f} s")
    assert found.reports == 1000
    assert found.sums.nccl.operations["AllReduce"].calls == 1000 * 20 * 10
    assert most < MOST_MEMORY < total and took < MOST_SECONDS


@pytest.mark.parametrize("made", [mpi_report(), nccl_report(0)], ids=["mpi", "nccl"])
def test_changed_reports_are_summed_up_or_refused(made: dict[str, Any], tmp_path: Path) -> None:
    path, text = tmp_path / "report", json.dumps(made)
    outcomes = {True: 0, False: 0}
    for seed in seeds("reports of a job"):
        path.write_text(changed(lambda: [json.loads(text)], seed), errors="surrogatepass")
        said: list[str] = []
        try:
            with limit(3):
                found = reports.merge([path], "job", said.append)
            json.dumps(found.as_dict()).encode()
            outcomes[found.reports == 1] += 1
            assert all(str(path) in each for each in said)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    assert min(outcomes.values()) > sum(outcomes.values()) / 50


def test_options_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    job = write_job(tmp_path, 1)
    done = thinwire(job, "-o", tmp_path / "page.html")
    assert done.returncode == 1 and "reports have no page" in done.stderr
    done = thinwire(job, "--prometheus", tmp_path / "file")
    assert done.returncode == 1 and "end in .prom" in done.stderr
    trace = tmp_path / "trace.rank0"
    trace.write_text('{"thinwire_trace": 2}\n')
    done = thinwire(tmp_path / "trace", "--syslog")
    assert done.returncode == 1 and "take what --report FILE wrote" in done.stderr
