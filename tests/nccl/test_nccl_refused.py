"""NCCL programs whose system refuses the library threads or memory: they end well."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from test_nccl_coded import figures
from test_nccl_shim import PROGRAMS, SHIM, run, run_whole

pytestmark = pytest.mark.multiproc

REFUSE = PROGRAMS / "libnccl_refuse.so"
NO_THREAD = "a rank has no thread to serve compressed calls"
SETTINGS = {"CODEC": "lossless", "THRESHOLD": "1KiB"}


def gathers(path: Path) -> list[dict]:
    report = json.loads((path / "report.nccl.rank0").read_text())
    return [
        {"presence": each["presence"]} | each["operations"]["AllGather"]
        for each in report["communicators"]
    ]


# The helper's thread, that which serves calls, and that which writes a trace.
@pytest.mark.parametrize("traced", [False, True], ids=["", "traced"])
@pytest.mark.parametrize("threads", range(4))
def test_programs_end_well_whichever_thread_is_refused(
    threads: int, traced: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSE_THREADS", str(threads))
    settings = SETTINGS | {"REPORT": tmp_path / "report"}
    if traced:
        settings |= {"TRACE": tmp_path / "trace"}
    output, errors = run(PROGRAMS / "nccl_coded", "200", beside=REFUSE, **settings)
    assert output == "ok\n"
    raw = sum(each["raw_by_reason"].get(NO_THREAD, 0) for each in gathers(tmp_path))
    coded = sum(each["compressed_calls"] for each in gathers(tmp_path))
    if threads == 0:
        text = "raw: there is no helper thread"
        assert {each["presence"] for each in gathers(tmp_path)} == {text}
        assert text in errors
    elif not traced:
        assert (raw > 400, coded > 400) == (threads == 1, threads > 1)


def test_a_rank_that_has_a_thread_again_takes_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSE_THREADS", "1")
    monkeypatch.setenv("REFUSE_THREADS_TO", "8")
    settings = SETTINGS | {"REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_coded", "1500", beside=REFUSE, **settings)[0] == "ok\n"
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    of_all = [of for each in report["communicators"] for of in each["operations"].values()]
    late = [of for of in of_all if of["raw_by_reason"].get(NO_THREAD, 0) > 1000]
    assert late, "it looks again after 1024 calls"
    assert any(of["compressed_calls"] > 100 for of in late)


@pytest.mark.parametrize(
    ("refused", "said"), [(None, "ok\n"), ("100", "ok\n"), ("1000000", "refused\n")]
)
def test_a_thread_to_go_on_beside_a_group(
    refused: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is refused for long the call fails, as NCCL lets calls that do not block fail."""
    monkeypatch.setenv("NCCL_COMM_BLOCKING", "0")
    if refused is not None:
        monkeypatch.setenv("REFUSE_THREADS", "2")
        monkeypatch.setenv("REFUSE_THREADS_TO", refused)
    words = (PROGRAMS / "nccl_refused", "groups", "150")
    assert run_whole(*words, beside=REFUSE, **SETTINGS)[0] == said


# Most of what the program takes of memory by way of the library: 2,100 pieces.
PIECES = 2100


@pytest.mark.parametrize("first", range(7, 47, 10))
@pytest.mark.parametrize("blocking", ["1", "0"])
def test_memory_that_is_refused_once_ends_no_program(
    blocking: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call goes raw, or fails if other ranks may have compressed it; results are right."""
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocking)
    mode = "calls" if blocking == "1" else "groups"
    said = []
    for piece in range(first, PIECES, 200):
        monkeypatch.setenv("REFUSE_MEMORY", str(piece))
        words = (PROGRAMS / "nccl_refused", mode, "100")
        said.append(run_whole(*words, beside=REFUSE, patience=60, **SETTINGS)[0])
    assert set(said) <= {"ok\n", "refused\n"}
    assert "ok\n" in said


def test_no_thread_of_the_library_ends_the_process_for_want_of_memory() -> None:
    """Buffers are given back and connections ended in destructors. A call may fail, of which the
    other rank's stream is not told: the program then waits for it, and is killed."""
    for piece in [*range(20, 60, 4), *range(340, 420, 4)]:
        own = {"LD_PRELOAD": f"{REFUSE}:{SHIM}", "REFUSE_OWN_MEMORY": str(piece)}
        own |= {f"THINWIRE_{name}": value for name, value in SETTINGS.items()}
        own |= {"THINWIRE_SAME_NODE": "1", "THINWIRE_FORCE": "1"}
        words = [PROGRAMS / "nccl_spills", "120", "60", "1"]
        try:
            done = subprocess.run(words, env=os.environ | own, timeout=10, capture_output=True)
        except subprocess.TimeoutExpired:
            continue
        assert done.returncode in (0, 1), f"piece {piece}: {done.stderr.decode()}"


# NCCL programs during which memory runs out on one rank.


WARNING = "no memory on its GPU"
SHORT = "out of memory"


@pytest.mark.parametrize("codec", ["lorenzo", "lossless"])
@pytest.mark.parametrize("way", ["groups", "little", "streams", "larger"])
def test_calls_succeed_when_memory_runs_out_on_a_rank(way: str, codec: str, tmp_path: Path) -> None:
    settings = {"CODEC": codec, "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(PROGRAMS / "nccl_memory", way, **settings)
    assert output == "ok\n"
    ranks = figures(tmp_path / "report.nccl.rank0")["AllGather"]
    assert len({each["compressed_calls"] for each in ranks}) == 1
    for each in ranks:
        short = each["raw_by_reason"].get(SHORT, 0)
        # Memory reserved for whole groups suffices; else all ranks go raw, and say why.
        assert (short > 0) == (way != "groups")
        assert each["compressed_calls"] > 50 or way == "little"
    # One process, in which one call works in the host's memory if the device has none.
    assert errors.count(WARNING) == (1 if way in ("streams", "larger") else 0)


def test_a_rank_that_has_memory_again_takes_part(tmp_path: Path) -> None:
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_memory", "returns", **settings) == ("ok\n", "")
    for each in figures(tmp_path / "report.nccl.rank0")["AllGather"]:
        assert each["raw_by_reason"][SHORT] >= 1024, "it looks again after so many"
        assert each["compressed_calls"] > 100


def test_what_a_failed_communicator_held_serves_the_next(tmp_path: Path) -> None:
    """As programs restart in their processes, after a call that NCCL has refused on one rank."""
    settings = {"CODEC": "lossless", "REPORT": tmp_path / "report"}
    output, errors = run(PROGRAMS / "nccl_restarts", **settings)
    assert output == "ok\n"
    assert errors == ""
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    # Beside the two of the program's that have no calls.
    used = [each["operations"]["Send"] for each in report["communicators"] if each["operations"]]
    assert len(used) == 12
    assert all(each["compressed_calls"] > 20 for each in used)
