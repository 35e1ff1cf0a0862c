"""`thinwire report` of the traces of many ranks: in little memory, whatever is wrong with some."""

import json
import subprocess
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from changed import limit, within
from made_traces import ZEROS, head, rank_lines, write_job

from thinwire import traces
from thinwire.traces import files
from thinwire.traces.page import page
from thinwire.traces.read import MOST_LINE, Warn
from thinwire.traces.spread import MOST_POINTS

RANKS = 1000
MOST_MEMORY = 3 << 20
MOST_SECONDS = 60


def report(
    *words: str | Path, most_memory: int | None = None
) -> "subprocess.CompletedProcess[str]":
    command = within(most_memory, "report", *words)
    return subprocess.run(command, capture_output=True, text=True)


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_ranks(folder: Path, ranks: int, bins: int) -> Path:
    """A job of eight ranks a node: only the ranks' first lines and peers differ."""
    for rank in range(ranks):
        write(folder / f"job.rank{rank}", rank_lines(rank, ranks, f"node-{rank // 8:03d}", bins))
    return folder / "job"


def test_a_thousand_traces_take_little_memory(tmp_path: Path) -> None:
    job = write_ranks(tmp_path, RANKS, bins=24)
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    start = time.process_time()
    tracemalloc.start()
    try:
        found = traces.merge_files([job], pytest.fail, lambda error: pytest.fail(str(error)))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    took = time.process_time() - start
    print(f"{total} bytes of traces: {most} bytes at most, {took:.1f} s of the processor")
    assert found.job["traced_ranks"] == len(found.ranks) == RANKS
    assert len(found.job["nodes"]) == len(found.matrix["names"]) == RANKS // 8
    assert found.totals["compressed_messages"] == 20 * RANKS
    assert sum(pair[2] for pair in found.matrix["pairs"]) == RANKS * 24 * 30
    assert most < MOST_MEMORY < total / 4 and took < MOST_SECONDS


def test_a_damaged_trace_is_named_and_the_others_are_merged(tmp_path: Path) -> None:
    job, out = write_job(tmp_path, 6, 2), tmp_path / "out.html"
    (tmp_path / "job.rank0").write_text("no line\n")
    text = (tmp_path / "job.rank3").read_text()
    (tmp_path / "job.rank3").write_text(text.replace('"decoded": 20', '"decoded": -20'))
    (tmp_path / "job.rank4").write_bytes(b"")
    done = report(job, "-o", out)
    assert done.returncode == 1 and done.stdout.endswith(f"{out}\n")
    errors = [line for line in done.stderr.splitlines() if line.startswith("thinwire: error: ")]
    assert [error.split(": ")[2] for error in errors] == [
        f"{tmp_path}/job.rank3:6",
        f"{tmp_path}/job.rank0:1",
        f"{tmp_path}/job.rank4:1",
    ]
    assert "3 of 6 ranks have no trace here" in done.stderr
    assert f"left out: {tmp_path}/job.rank3:6: " in out.read_text()
    found = json.loads(report(job, "--json").stdout)
    assert [rank["rank"] for rank in found["ranks"]] == [1, 2, 5]
    assert found["totals"]["compressed_messages"] == 60
    assert sum(step["decoded"] for step in found["over_time"]) == pytest.approx(3 * 12 * 20)


def test_nothing_is_shown_if_all_are_damaged(tmp_path: Path) -> None:
    (tmp_path / "job.rank0").write_text('{"thinwire_trace": 2}\n')
    done = report(tmp_path / "job", "-o", tmp_path / "out.html")
    assert done.returncode == 1 and not (tmp_path / "out.html").exists()
    assert f"{tmp_path}/job.rank0:1: " in done.stderr
    assert done.stderr.endswith("thinwire: error: no trace could be read\n")


def test_a_rank_in_two_files_is_refused(tmp_path: Path) -> None:
    write_job(tmp_path, 2, 1)
    other = tmp_path / "other"
    other.write_text((tmp_path / "job.rank1").read_text())
    with pytest.raises(traces.NotATrace, match=r"other:1: rank 1 is in .*job.rank1 already"):
        traces.merge_files([tmp_path / "job", other], pytest.fail, pytest.fail)


def long_head(rank: int, ranks: int) -> dict[str, Any]:
    """Of more than 1 MiB."""
    return head(rank, ranks, "node", settings={f"THINWIRE_{at}": 60000 * "x" for at in range(20)})


def test_a_first_line_that_is_long_says_whose_a_trace_is(tmp_path: Path) -> None:
    job, long = write_job(tmp_path, 2, 1), tmp_path / "job.rank1"
    rest = rank_lines(1, 2, "node")[1:]
    write(long, [long_head(1, 2), *rest])
    assert len(traces.merge_files([job], pytest.fail, pytest.fail).ranks) == 2
    write(long, [long_head(999, 1000), *rest])
    with pytest.raises(traces.NotATrace, match=r"job.rank1:1: of a job of 1000 ranks, and "):
        traces.merge_files([job], pytest.fail, pytest.fail)
    write(long, [long_head(0, 2), *rest])
    with pytest.raises(traces.NotATrace, match=r"job.rank1:1: rank 0 is in .*job.rank0 already"):
        traces.merge_files([job], pytest.fail, pytest.fail)


@pytest.mark.parametrize("now", [head(999, 1000, "a"), head(0, 2, "a"), head(1, 2, "b")])
@pytest.mark.parametrize("before", [[head(1, 2, "a")], []])
def test_a_trace_that_becomes_another_is_left_out(
    now: dict[str, Any], before: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Between the first look at all files and the reading of each."""
    write(tmp_path / "job.rank0", rank_lines(0, 2, "a"))
    changing = tmp_path / "job.rank1"
    write(changing, before)

    def change_and_read(path: Path, warn: Warn) -> traces.RankTrace:
        write(changing, [now, *rank_lines(1, 2, "a")[1:]])
        return traces.read(path, warn)

    monkeypatch.setattr(files, "read", change_and_read)
    errors: list[str] = []
    found = traces.merge_files(
        [tmp_path / "job"], lambda warning: None, lambda error: errors.append(str(error))
    )
    page(found, "job")
    assert [rank["rank"] for rank in found.ranks] == [0]
    assert len(errors) == 1 and errors[0].startswith(f"{changing}:1: ")


@pytest.mark.parametrize("lines", [0, 1, 3])
def test_a_line_without_an_end_is_not_read(lines: int, tmp_path: Path) -> None:
    job, out, bad = write_job(tmp_path, 3, 1), tmp_path / "out.html", tmp_path / "job.rank2"
    write(bad, rank_lines(2, 3, "node")[:lines])
    with bad.open("r+b") as file:
        file.truncate(3 << 30)
    done = report(job, "-o", out, most_memory=1 << 30)
    assert done.returncode == 1 and done.stdout.endswith(f"{out}\n")
    assert f"error: {bad}:{lines + 1}: a line of {MOST_LINE} characters or more\n" in done.stderr


def test_a_bin_of_all_kinds_that_a_trace_can_have_is_read(tmp_path: Path) -> None:
    """Each with full histograms of the longest figures."""
    cells = [{"cell": at, "operation": "send", "peer": 0} for at in range(2048)]
    most = (1 << 64) - 1
    full = [[bucket, most] for bucket in range(64)]
    rows = [[at, *5 * [most], full, full, full, most, most] for at in range(2048)]
    made = {"from": 0, "to": 1, **ZEROS, "cells": rows}
    lines = [json.dumps(line) for line in (head(0, 1, "a"), *cells, made)]
    (tmp_path / "job.rank0").write_text("\n".join(lines) + "\n")
    found = traces.read_all([tmp_path / "job"], lambda warning: None)
    assert len(found[0].bins) == 1 and MOST_LINE / 2 < len(lines[-1]) < MOST_LINE


def test_a_name_with_letters_of_patterns_is_found(tmp_path: Path) -> None:
    for name in ("b[1]", "b1", "a*", "ab", "**", "?"):
        write(tmp_path / f"{name}.rank0", rank_lines(0, 1, "a"))
        write(tmp_path / f"{name}.nccl.rank0", rank_lines(0, 1, "a"))
    for name in ("b[1]", "a*", "**", "?", "b[1].nccl"):
        assert traces.files_of([tmp_path / name]) == [tmp_path / f"{name}.rank0"]
    (tmp_path / "b[1].rank0").unlink()
    assert traces.files_of([tmp_path / "b[1]"]) == [tmp_path / "b[1].nccl.rank0"]


@pytest.mark.parametrize("started", [1790000000.0, 1789999000.0, 0.0])
def test_points_over_time_are_few_however_long_a_job_is(started: float, tmp_path: Path) -> None:
    """A rank of long ago is one of them, whichever is read first; no figure is lost."""
    for rank, lines in enumerate([rank_lines(0, 2, "a", bins=2000), rank_lines(1, 2, "b")]):
        if rank == 1:
            lines[0]["started"] = started
        write(tmp_path / f"job.rank{rank}", lines)
    with limit(10):
        found = traces.merge_files([tmp_path / "job"], pytest.fail, pytest.fail)
    assert MOST_POINTS / 2 <= len(found.over_time) <= MOST_POINTS + 1
    assert found.over_time[0]["from"] == 0
    decoded = sum(step["decoded"] for step in found.over_time)
    assert decoded == pytest.approx(2012 * 20, rel=1e-6)
    assert max(step["pool_bytes"] for step in found.over_time) in (1 << 20, 2 << 20)
    # Nothing is in the time in which no rank ran.
    if started == 1789999000.0:
        assert found.over_time[3]["decoded"] == 0
    page(found, "job")


def test_a_bin_that_ends_in_thousands_of_years_takes_no_time(tmp_path: Path) -> None:
    lines = rank_lines(0, 1, "a")
    next(line for line in lines if line.get("from") == 1.0)["to"] = 2.5e11
    write(tmp_path / "job.rank0", lines)
    with limit(5):
        found = traces.merge_files([tmp_path / "job"], pytest.fail, pytest.fail)
    assert len(found.over_time) <= MOST_POINTS + 1
    assert sum(step["decoded"] for step in found.over_time) == pytest.approx(12 * 20, rel=1e-3)


def test_the_head_of_a_rank_that_is_left_out_is_that_of_no_other(tmp_path: Path) -> None:
    """Its node has no column unless another rank is there."""
    job = write_ranks(tmp_path, 72, bins=1)
    bad = tmp_path / "job.rank71"
    bad.write_text(json.dumps(head(71, 72, "nowhere")) + "\n{}\n")
    said: list[str] = []
    found = traces.merge_files([job], said.append, lambda error: said.append(str(error)))
    assert said[0].startswith(f"{bad}:2: ") and "nowhere" not in found.matrix["names"]
    # Ranks 69 and 70 send to it, 2 and 1 of their cells' bytes.
    assert found.matrix["bytes_to_others"] == 1000000 + 2000000
