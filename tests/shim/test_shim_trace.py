"""Traces of MPI programs: their figures, and what becomes of them where something goes wrong."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import MPIRUN, Run, environment, mpirun, preloaded

from thinwire import traces
from thinwire.traces import Merged, NotATrace

pytestmark = pytest.mark.multiproc

RANKS = 3
ROUNDS = 6
NAME = 'we "ird\\ <b>name</b>\n'
SETTINGS = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}


def run(mpi: Mpi, folder: Path, *words: str, **more: str) -> Run:
    settings = SETTINGS | {"THINWIRE_TRACE": str(folder / "trace")} | more
    program = [mpi.programs / "shim_traced", str(ROUNDS), *words]
    done = mpirun(
        RANKS, program, mpi.production, mpi=mpi, settings=settings, report=folder / "report"
    )
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    return done


def merged(folder: Path) -> Merged:
    warnings: list[str] = []
    found = traces.merge(traces.read_all([folder / "trace"], warnings.append), warnings)
    assert warnings == []
    return found


def agrees(traced: object, reported: object) -> bool:
    """Counts as they are; of a rank's seconds the file has six digits."""
    if isinstance(reported, dict):
        assert isinstance(traced, dict)
        return traced.keys() == reported.keys() and all(
            agrees(traced[name], value) for name, value in reported.items()
        )
    if isinstance(reported, float):
        return traced == pytest.approx(reported, rel=1e-4)
    return traced == reported


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_totals_are_those_of_the_report(mpi: Mpi, tmp_path: Path) -> None:
    reported = run(mpi, tmp_path).report
    assert reported is not None
    found = merged(tmp_path)
    for name, value in reported.items():
        # The report's own sums take a message and memory of the library's.
        if name not in ("allocations", "pools"):
            assert agrees(found.totals[name], value), name
    sends = [kind for kind in found.kinds if kind["operation"] == "send"]
    assert sum(kind["bytes"] for kind in sends) == reported["bytes"]
    assert sum(kind["wire_bytes"] for kind in sends) == reported["wire_bytes"]
    compressed = [kind for kind in sends if kind["raw"] is None]
    assert sum(kind["calls"] for kind in compressed) == reported["compressed_messages"]
    whole = [
        kind for kind in found.kinds if kind["operation"] == "MPI_Bcast" and kind["raw"] is None
    ]
    assert sum(kind["calls"] for kind in whole) == reported["collectives"]["compressed"]
    assert sum(kind["bytes"] for kind in whole) == reported["collectives"]["bytes"]
    left = [kind for kind in found.kinds if kind["operation"] != "send" and kind["raw"] is not None]
    assert sum(kind["calls"] for kind in left) == reported["collectives"]["native_calls"]
    assert sum(kind["bytes"] for kind in left) == reported["collectives"]["native_bytes"]


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_steps_are_the_calls_that_repeat(mpi: Mpi, tmp_path: Path) -> None:
    rounds = 100
    settings = SETTINGS | {"THINWIRE_TRACE": str(tmp_path / "trace"), "THINWIRE_FORCE": "1"}
    program = [mpi.programs / "shim_traced", str(rounds)]
    done = mpirun(RANKS, program, mpi.production, mpi=mpi, settings=settings)
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    found = merged(tmp_path).steps
    assert found is not None
    calls = sum(cell.calls for cell in traces.read_all([tmp_path / "trace"], pytest.fail)[0].cells)
    # A round is a step, but for those that find it out.
    assert found["calls"] == pytest.approx(calls / rounds, rel=0.1)
    assert rounds / 2 < found["compressed"]["number"] + found["raw"]["number"] < rounds


def test_who_talks_to_whom_and_by_which_name(tmp_path: Path) -> None:
    run(SYSTEM, tmp_path)
    found = merged(tmp_path)
    pairs = {(pair[0], pair[1]): pair[2] for pair in found.matrix["pairs"]}
    assert pairs == {(rank, (rank + 1) % RANKS): 3 * ROUNDS for rank in range(RANKS)}
    by_name = {kind["communicator"] for kind in found.kinds if kind["operation"] == "send"}
    assert by_name == {"MPI_COMM_WORLD", NAME}
    (large,) = [kind for kind in found.kinds if kind["sizes"].get(20)]
    assert large["sizes"] == {20: RANKS * ROUNDS, 17: RANKS * ROUNDS}
    assert large["place"] == "same node" and large["codec"].startswith("mpc")
    assert found.totals["raw_by_reason"]["below the threshold"] == RANKS * ROUNDS
    assert found.job["settings"]["THINWIRE_CODEC"] == "mpc"


def test_raw_messages_have_their_reason(tmp_path: Path) -> None:
    run(SYSTEM, tmp_path, THINWIRE_SAME_NODE="0")
    found = merged(tmp_path)
    (row,) = [
        row for row in found.raw if row["reason"] == "peer on the same node" and row["bytes"]
    ][:1]
    assert row["calls"] == RANKS * ROUNDS * 3
    assert found.totals["compressed_messages"] == 0


def test_time_passes_in_bins(tmp_path: Path) -> None:
    run(SYSTEM, tmp_path, "1")
    found = merged(tmp_path)
    active = [step for step in found.over_time if step["bytes"] > 0]
    assert len(active) >= 3
    assert sum(step["bytes"] for step in active) == pytest.approx(found.totals["bytes"], rel=1e-6)


def test_a_killed_program_leaves_what_it_did(tmp_path: Path) -> None:
    words = preloaded([SYSTEM.programs / "shim_traced", "1", "60"], SYSTEM.production)
    settings = SETTINGS | {"THINWIRE_TRACE": str(tmp_path / "trace")}
    started = subprocess.Popen(
        [*MPIRUN, "-n", str(RANKS), *words],
        env=environment(settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    path = tmp_path / "trace.rank2"
    limit = time.monotonic() + 30
    while not (path.exists() and path.read_text().count('"from"') >= 2):
        assert time.monotonic() < limit and started.poll() is None
        time.sleep(0.05)
    for line in path.read_text().splitlines()[:1]:
        os.kill(json.loads(line)["pid"], signal.SIGKILL)
    started.wait(timeout=30)
    warnings: list[str] = []
    ranks = traces.read_all([tmp_path / "trace"], warnings.append)
    assert any("trace.rank2: has no last line" in warning for warning in warnings)
    found = traces.merge(ranks, warnings)
    assert found.totals["compressed_messages"] > RANKS
    assert found.totals["bytes"] > found.totals["wire_bytes"] > 0


def test_a_path_that_cannot_be_written_ends_the_trace_alone(tmp_path: Path) -> None:
    done = run(SYSTEM, tmp_path, THINWIRE_TRACE=str(tmp_path / "no" / "folder"))
    lines = [line for line in done.thinwire_lines() if "THINWIRE_TRACE" in line]
    assert len(lines) == RANKS and all("the program goes on" in line for line in lines)


def test_a_full_disk_ends_the_trace_alone(tmp_path: Path) -> None:
    for rank in range(RANKS):
        (tmp_path / f"trace.rank{rank}").symlink_to("/dev/full")
    done = run(SYSTEM, tmp_path)
    assert "No space left on device; the program goes on" in done.errors


def test_what_is_no_trace_is_named_with_its_line(tmp_path: Path) -> None:
    run(SYSTEM, tmp_path)
    whole = (tmp_path / "trace.rank0").read_text()
    lines = whole.splitlines(keepends=True)
    path = tmp_path / "one"
    wrong = {
        "".join([lines[0].replace('"thinwire_trace": 2', '"thinwire_trace": 7'), *lines[1:]]): (
            ":1: a trace of version 7"
        ),
        "hello\n": ":1: this is no line of a trace",
        '{"a": 1}\n': ":1: not a trace",
        "": ":1: not a trace",
        "".join([*lines[:3], "{broken\n", *lines[3:]]): ":4: this is no line of a trace",
        "".join([*lines[:1], *lines[2:]]): ":2: this is no line of a trace",
    }
    for text, said in wrong.items():
        path.write_text(text)
        with pytest.raises(NotATrace, match=f"{path}{said}"):
            traces.read(path, lambda warning: None)
    warnings: list[str] = []
    path.write_text(whole[: whole.index('"wire_bytes"')])
    cut = traces.read(path, warnings.append)
    assert any(f"{path}:{len(lines)}: the line ends in the middle" in each for each in warnings)
    assert cut.bins
    with pytest.raises(NotATrace, match="there is no such file"):
        traces.read_all([tmp_path / "nothing"], warnings.append)
    path.write_text(whole.replace('"ranks": 3', '"ranks": 4', 1))
    with pytest.raises(NotATrace, match="they are not of one job"):
        traces.read_all([tmp_path / "trace.rank1", path], warnings.append)


@pytest.mark.parametrize("link", ["", "10mbit"])
def test_time_saved(link: str, tmp_path: Path) -> None:
    """The report, the trace and metrics say the same; without a rate there is nothing to say."""
    more = {"THINWIRE_FORCE": "1", "THINWIRE_METRICS": str(tmp_path / "metrics")}
    reported = run(SYSTEM, tmp_path, **more, **({"THINWIRE_LINK": link} if link else {})).report
    assert reported is not None
    saved = merged(tmp_path).saved
    metered = [metrics(tmp_path / f"metrics.rank{rank}.prom") for rank in range(RANKS)]
    total = sum(each["raw_seconds_total"] - each["took_seconds_total"] for each in metered)
    if not link:
        assert (
            reported["predicted_saved_seconds"]
            == reported["collectives"]["saved_seconds"]
            == total
            == 0
        )
        assert saved["messages"]["raw_seconds"] == 0
        return
    assert 0 < reported["predicted_saved_seconds"] < saved["messages"]["raw_seconds"]
    assert saved["messages"]["saved_seconds"] == pytest.approx(
        reported["predicted_saved_seconds"], rel=1e-3
    )
    of_calls = reported["collectives"]["saved_seconds"]
    assert of_calls == 0  # by order no call is timed both ways
    assert saved["collectives"]["saved_seconds"] == pytest.approx(of_calls, rel=1e-3)
    assert total == pytest.approx(reported["predicted_saved_seconds"] + of_calls, rel=1e-3)
    kinds = [kind for kind in merged(tmp_path).kinds if kind["predicted_nanoseconds"]]
    assert kinds and all(sum(kind["predictions"].values()) == kind["calls"] for kind in kinds)


LISTENER = SYSTEM.programs.parent / "nccl" / "libnccl_nvtx_listener.so"


@pytest.mark.skipif(not LISTENER.exists(), reason="built without NVTX's headers")
def test_profilers_see_encoding_decoding_and_collectives(tmp_path: Path) -> None:
    own_file = 'NVTX_LISTENER_FILE="$0.$OMPI_COMM_WORLD_RANK" exec "$@"'
    program = [SYSTEM.programs / "shim_traced", str(ROUNDS)]
    words = ["sh", "-c", own_file, str(tmp_path / "ranges"), *program]
    settings = SETTINGS | {"THINWIRE_FORCE": "1", "NVTX_INJECTION64_PATH": str(LISTENER)}
    done = mpirun(
        RANKS, words, SYSTEM.production, mpi=SYSTEM, settings=settings, report=tmp_path / "report"
    )
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    assert done.report is not None
    files = [tmp_path / f"ranges.{rank}" for rank in range(RANKS)]
    lines = [line for file in files for line in file.read_text().splitlines()]
    encoded = [line for line in lines if line.startswith("push encode mpc")]
    decoded = [line for line in lines if line.startswith("push decode ")]
    whole = [line for line in lines if line.startswith("push MPI_Bcast mpc")]
    assert len(encoded) >= done.report["compressed_messages"] > 0
    assert len(decoded) == done.report["decoded_messages"]
    assert len(whole) == done.report["collectives"]["compressed"] > 0
    assert any(line.endswith(" 1048576 bytes, payload 1048576") for line in encoded)
    assert lines.count("pop") == len(encoded) + len(decoded) + len(whole)


METRIC = re.compile(r"^thinwire_(\w+)\{(.*)\} ([-+.e\d]+)$")


def metrics(path: Path) -> dict[str, float]:
    """Of a file for Prometheus: each figure summed over its labels. Each line is sound."""
    sums: dict[str, float] = {}
    typed = set()
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            typed.add(line.split()[2].removeprefix("thinwire_"))
            continue
        found = METRIC.match(line)
        assert found is not None, line
        assert found[1] in typed or re.sub("_(bucket|sum|count)$", "", found[1]) in typed, line
        sums[found[1]] = sums.get(found[1], 0.0) + float(found[3])
    return sums


def test_metrics_are_the_reports_sums(tmp_path: Path) -> None:
    """Also without a trace, and beside one."""
    for more in ({}, {"THINWIRE_TRACE": ""}):
        done = run(SYSTEM, tmp_path, THINWIRE_METRICS=str(tmp_path / "metrics"), **more)
        assert done.report is not None
        ranks = [metrics(tmp_path / f"metrics.rank{rank}.prom") for rank in range(RANKS)]
        calls = done.report["collectives"]
        of_report = {
            "bytes_total": done.report["bytes"] + calls["bytes"] + calls["native_bytes"],
            "decoded_total": done.report["decoded_messages"],
            "size_bytes_sum": done.report["bytes"] + calls["bytes"] + calls["native_bytes"],
            "below_threshold_total": done.report["raw_by_reason"]["below the threshold"],
        }
        for name, value in of_report.items():
            assert sum(each[name] for each in ranks) == value, name
        for each in ranks:
            assert each["time_seconds_sum"] == pytest.approx(each["seconds_total"])
            assert each["size_bytes_count"] <= each["calls_total"]
            assert each["pool_peak_bytes"] >= each["pool_bytes"] > 0
        assert not list(tmp_path.glob("*.draft"))


def test_metrics_that_cannot_be_written_are_said_once_a_rank(tmp_path: Path) -> None:
    done = run(SYSTEM, tmp_path, THINWIRE_METRICS=str(tmp_path / "no" / "folder"))
    lines = [line for line in done.thinwire_lines() if "THINWIRE_METRICS" in line]
    assert len(lines) == RANKS and all("the program goes on" in line for line in lines)
