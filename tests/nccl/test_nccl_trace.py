"""Traces, metrics and counters of NCCL programs, over a libnccl of host memory."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from changed import changed, limit, seeds
from test_nccl_shim import PROGRAMS, SHIM, run

from thinwire import traces
from thinwire.traces.page import page

pytestmark = pytest.mark.multiproc

CALLS = "300"
RANKS = 4  # of nccl_coded


def operations_of(report: Path) -> dict[str, dict[str, int]]:
    """What a report says of each operation, summed over communicators."""
    sums: dict[str, dict[str, int]] = {}
    for communicator in json.loads(report.read_text())["communicators"]:
        for name, found in communicator["operations"].items():
            into = sums.setdefault(name, {})
            for figure in ("calls", "bytes", "wire_bytes", "compressed_calls"):
                into[figure] = into.get(figure, 0) + found[figure]
    return sums


def traced(folder: Path, *words: str, **settings: str) -> dict[str, dict[str, int]]:
    paths = {"TRACE": folder / "trace", "METRICS": folder / "metrics", "REPORT": folder / "report"}
    output, errors = run(PROGRAMS / "nccl_coded", *words, **(paths | settings))
    assert (output, errors) == ("ok\n", "")
    (report,) = folder.glob("report.nccl.rank*")
    return operations_of(report)


def test_a_trace_has_what_the_report_has(tmp_path: Path) -> None:
    reported = traced(tmp_path, CALLS, CODEC="lorenzo")
    warnings: list[str] = []
    ranks = traces.read_all([tmp_path / "trace"], warnings.append)
    assert [warning for warning in warnings if "ranks have no trace" not in warning] == []
    found: dict[str, dict[str, int]] = {}
    for cell in ranks[0].cells:
        into = found.setdefault(cell.operation, {"calls": 0, "compressed_calls": 0})
        into["calls"] += cell.calls
        into["compressed_calls"] += cell.calls if cell.raw is None else 0
        for figure in ("bytes", "wire_bytes"):
            into[figure] = into.get(figure, 0) + getattr(cell, figure)
        assert cell.codec == "lorenzo:tuple=1"
    reported["send"] = reported.pop("Send")
    assert reported.pop("Recv")["bytes"] == 0
    assert found == reported
    merged = traces.merge(ranks, warnings)
    assert merged.totals["messages"] == reported["send"]["calls"]
    assert merged.totals["wire_bytes"] == reported["send"]["wire_bytes"]
    assert merged.job["mpi"].startswith("NCCL ")


def test_steps_are_the_calls_that_repeat(tmp_path: Path) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(tmp_path / "id"), "RANKS": str(RANKS)}
    own |= {"THINWIRE_CODEC": "lossless", "THINWIRE_SAME_NODE": "1", "THINWIRE_FORCE": "1"}
    own |= {"THINWIRE_TRACE": str(tmp_path / "trace")}
    ranks = [
        subprocess.Popen(
            [PROGRAMS / "nccl_coded", CALLS],
            env=kept | own | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(RANKS)
    ]
    assert [rank.communicate(timeout=120)[0] for rank in ranks] == ["ok\n"] * RANKS
    warnings: list[str] = []
    found = traces.merge(traces.read_all([tmp_path / "trace"], warnings.append), warnings).steps
    assert warnings == [] and found is not None
    # Each call of the program is one of each of five operations; the first ones find out.
    assert found["calls"] == 5
    assert found["compressed"]["number"] > 100
    assert found["compressed"]["number"] + found["raw"]["number"] < int(CALLS)


def test_metrics_sum_the_same(tmp_path: Path) -> None:
    reported = traced(tmp_path, CALLS, CODEC="lorenzo")
    (path,) = tmp_path.glob("metrics.nccl.rank*.prom")
    lines = [line for line in path.read_text().splitlines() if line.startswith("thinwire_bytes")]
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == sum(
        each["bytes"] for each in reported.values()
    )
    assert any('operation="AllGather"' in line and 'raw=""' in line for line in lines)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to plant as another user")
@pytest.mark.parametrize("what", ["link", "pipe"])
def test_what_another_has_planted_is_not_written_to(tmp_path: Path, what: str) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "shared"
    victim.write_text("another's")
    folder.mkdir()
    folder.chmod(0o1777)
    path = folder / "report.nccl.rank0"
    if what == "link":
        path.symlink_to(victim)
    else:
        os.mkfifo(path)
    os.lchown(path, 65534, 65534)
    program = PROGRAMS / "nccl_coded"
    output, errors = run(program, CALLS, CODEC="lorenzo", REPORT=folder / "report")
    assert output == "ok\n"
    assert "THINWIRE_REPORT: cannot write" in errors and errors.count("\n") == 1, errors
    assert victim.read_text() == "another's"


def test_a_report_and_a_log_that_nobody_reads_end_no_program() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    settings = {"CODEC": "lorenzo", "SAME_NODE": "1", "REPORT": "1", "LOG": "debug"}
    named = {f"THINWIRE_{name}": value for name, value in settings.items()}
    done = subprocess.run(
        [PROGRAMS / "nccl_coded", CALLS],
        env={**os.environ, **named, "LD_PRELOAD": str(SHIM)},
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
        timeout=120,
        restore_signals=True,
    )
    os.close(writer)
    assert (done.returncode, done.stdout) == (0, "ok\n")


def test_a_trace_without_a_report(tmp_path: Path) -> None:
    run(PROGRAMS / "nccl_coded", "20", CODEC="lorenzo", TRACE=tmp_path / "trace")
    assert [path.name.partition(".nccl.")[0] for path in tmp_path.iterdir()] == ["trace"]


def test_a_path_that_cannot_be_written_ends_the_trace_alone(tmp_path: Path) -> None:
    path = tmp_path / "no" / "folder"
    output, errors = run(PROGRAMS / "nccl_coded", "20", CODEC="lorenzo", TRACE=path)
    assert output == "ok\n" and errors.count("THINWIRE_TRACE") == 1


def test_a_program_reads_its_counters_while_it_runs() -> None:
    words, _ = run(PROGRAMS / "nccl_report", "stats", CODEC="lorenzo")
    messages, collectives, native, _ = map(int, words.split())
    # Two ranks gather once; calls are raw until the ranks have agreed.
    assert messages == 0 and collectives + native == 2
    assert run(PROGRAMS / "nccl_report", "stats", preload=False)[0] == "none\n"


def test_changed_traces_of_a_program_are_shown_or_refused(tmp_path: Path) -> None:
    traced(tmp_path, CALLS, CODEC="lorenzo")
    (written,) = tmp_path.glob("trace.nccl.rank*")
    text = written.read_text()
    path = tmp_path / "changed.nccl.rank0"

    def rows() -> list[Any]:
        return [json.loads(line) for line in text.splitlines()]

    outcomes = {True: 0, False: 0}
    for seed in seeds("traces of an NCCL program"):
        path.write_text(changed(rows, seed), errors="surrogatepass")
        warnings: list[str] = []
        try:
            with limit(3):
                merged = traces.merge(traces.read_all([path], warnings.append), warnings)
                page(merged, "job").encode()
            outcomes[True] += 1
        except traces.NotATrace:
            outcomes[False] += 1
    assert min(outcomes.values()) > sum(outcomes.values()) / 100
