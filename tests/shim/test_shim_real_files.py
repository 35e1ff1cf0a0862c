"""Traces, captures and reports of real runs, changed: what a program wrote is in more forms than
what tests make up."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from changed import changed, limit, seeds
from mpis import SYSTEM
from shim_runs import mpirun

from thinwire import capture, reports, traces
from thinwire.bench import samples
from thinwire.reports import line, metrics
from thinwire.traces.page import page

pytestmark = pytest.mark.multiproc

RANKS = 3


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a program of three ranks has left: a trace, a capture and a report."""
    folder = tmp_path_factory.mktemp("written")
    settings = {
        "THINWIRE_CODEC": "mpc",
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_TRACE": str(folder / "trace"),
        "THINWIRE_REPORT": str(folder / "report"),
        "THINWIRE_CAPTURE": str(folder / "sample"),
        "THINWIRE_CAPTURE_MOST": "2MiB",
    }
    program = [SYSTEM.programs / "shim_traced", "6"]
    done = mpirun(RANKS, program, SYSTEM.production, mpi=SYSTEM, settings=settings)
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    return folder


def _rows(path: Path) -> Callable[[], list[Any]]:
    text = path.read_text()
    return lambda: [json.loads(line) for line in text.splitlines()]


def _each(what: str, rows: Callable[[], list[Any]], path: Path, read: Callable[[], bool]) -> None:
    """Reads the rows in many changed forms; some are taken, some refused, all at once."""
    outcomes = {True: 0, False: 0}
    for seed in seeds(what):
        path.write_text(changed(rows, seed), errors="surrogatepass")
        try:
            with limit(3):
                outcomes[read()] += 1
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    assert min(outcomes.values()) > sum(outcomes.values()) / 100


def _shown(paths: list[Path]) -> bool:
    warnings: list[str] = []
    try:
        merged = traces.merge(traces.read_all(paths, warnings.append), warnings)
    except traces.NotATrace:
        return False
    json.dumps(merged.as_dict()).encode()
    page(merged, "job").encode()
    return True


def test_changed_traces_of_a_program(written: Path, tmp_path: Path) -> None:
    files = sorted(written.glob("trace.rank*"))
    assert len(files) == RANKS and _shown(files)
    other, path = tmp_path / "trace.rank1", tmp_path / "trace.rank0"
    shutil.copy(files[1], other)
    _each("traces of a program", _rows(files[0]), path, lambda: _shown([path, other]))


def test_changed_captures_of_a_program(written: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(written / "sample", folder)
    lists = sorted(folder.glob("rank*.jsonl"))
    assert len(lists) == RANKS
    all_rows = [row for listed in lists for row in _rows(listed)()]
    all_rows = [row for row in all_rows if (folder / row["file"]).is_file()]
    # Few of them: each has the list read and the index written.
    kept = all_rows[:: max(1, len(all_rows) // 12)]
    text = json.dumps(kept)
    name = kept[0]["file"]

    def read() -> bool:
        found = capture.make_index(folder, ["./program"])
        assert all((folder / each["file"]).parent == folder for each in found)
        assert json.loads((folder / "index.json").read_text())["samples"] == found
        samples.stated_shape(folder / name)
        return len(found) == len(kept)

    _each("captures of a program", lambda: json.loads(text), folder / "rank0.jsonl", read)


def test_changed_reports_of_a_program(written: Path, tmp_path: Path) -> None:
    found = reports.merge([written / "report"], "job", pytest.fail)
    assert found.sums.codec == "mpc:stride=1" and found.sums.total().compressed_calls > 0
    path = tmp_path / "report"

    def read() -> bool:
        merged = reports.merge([path], "job", lambda _: None)
        metrics.text(merged).encode()
        line.line(merged).encode()
        return merged.reports == 1

    _each("reports of a program", _rows(written / "report"), path, read)
