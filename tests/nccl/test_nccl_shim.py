"""The preload library for NCCL programs, over a libnccl of host memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from thinwire import reports

pytestmark = pytest.mark.multiproc

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release"))
PROGRAMS = BUILD / "tests" / "nccl"
SHIM = BUILD / "shim" / "nccl" / "libthinwire_nccl.so"
BRIEF = "THINWIRE_TEST_BRIEF" in os.environ  # `make test`
# No interfaces that tell their rates, whatever machine this is.
NO_SYSTEM = "/nowhere"
RAW = "no GPU that this build could use"
BYTES = "datatype not taken by the codec"
LITTLE = "below the threshold"
# Reasons of ranks that have just begun.
NOT_YET = {"not known yet who has the library", "not agreed yet for calls of this kind"}
FLOATS = 4 << 15  # bytes of the program's arrays
# Operations that have a twin with a configuration of the call.
COLLECTIVES = (
    "AllGather",
    "AllReduce",
    "AlltoAll",
    "Broadcast",
    "Gather",
    "Reduce",
    "ReduceScatter",
    "Scatter",
)


# Said at the end if nothing was compressed: test_nccl_nothing_compressed.py.
SILENCE = "compressed nothing by NCCL: "


def without_silence(errors: str) -> str:
    lines = errors.splitlines(keepends=True)
    return "".join(line for line in lines if SILENCE not in line)


def run(*words: str | Path, **how: Any) -> tuple[str, str]:
    """What run_whole() says, but that nothing was compressed."""
    output, errors = run_whole(*words, **how)
    return output, without_silence(errors)


def run_whole(
    *words: str | Path,
    preload: bool = True,
    gpus: bool = False,
    ranks: int | None = None,
    patience: int = 120,
    beside: Path | None = None,
    **settings: str | Path,
) -> tuple[str, str]:
    """What a program prints, under the library; `gpus`: over an NCCL that is not the host's;
    `ranks`: as many, where the program has no number of its own; `patience`: in seconds;
    `beside`: a library that is preloaded before it. Unless `settings` say otherwise its ranks
    compress though they share a node, and what does not pay."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    named = {"THINWIRE_SAME_NODE": "1", "THINWIRE_FORCE": "1", "THINWIRE_TEST_SYSTEM": NO_SYSTEM}
    named |= {f"THINWIRE_{name}": str(value) for name, value in settings.items()}
    preloads = ([beside] if beside is not None else []) + ([SHIM] if preload else [])
    own = {"LD_PRELOAD": ":".join(str(each) for each in preloads)}
    if ranks is not None:
        own["RANKS"] = str(ranks)
    if gpus:
        own["LD_LIBRARY_PATH"] = str(PROGRAMS / "lib_gpu")
        own["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run(
        [str(word) for word in words],
        env=kept | named | own,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


_taken: set[str | Path] = set()


def expect_taken(*words: str | Path, **how: Any) -> None:
    """Runs a program natively, which shows that it is one that NCCL takes. `make test` does so a
    single time for each program: the library is not there, and a test that fails under it fails."""
    if BRIEF and words[0] in _taken:
        return
    assert run(*words, preload=False, **how) == ("ok\n", "")
    _taken.add(words[0])


def operations(path: Path) -> list[dict[str, dict]]:
    """Of the communicators of a report, in the order of ranks."""
    report = json.loads(path.read_text())
    ranks = sorted(report["communicators"], key=lambda each: each["rank"])
    assert [each["rank"] for each in ranks] == [0, 1, 2, 3]
    assert {each["ranks"] for each in ranks} == {4}
    return [each["operations"] for each in ranks]


@pytest.mark.parametrize(
    "words",
    [
        (PROGRAMS / "nccl_calls",),
        # NCCL is loaded for a module alone, as Python's are.
        (PROGRAMS / "nccl_module_host", PROGRAMS / "libnccl_module.so"),
        # Such a module has NCCL linked into it, as some builds of PyTorch.
        (PROGRAMS / "nccl_module_host", PROGRAMS / "libnccl_module_inside.so"),
    ],
    ids=["linked", "loaded by a module", "inside a module"],
)
def test_every_call_arrives_and_is_counted(words: tuple[Path, ...], tmp_path: Path) -> None:
    output, errors = run(*words, gpus=True, CODEC="zfp:rate=16", REPORT=tmp_path / "report")
    assert (output, errors) == ("ok\n", "")
    for rank, found in enumerate(operations(tmp_path / "report.nccl.rank0")):
        sums = found["AllReduce"]
        assert (sums["calls"], sums["bytes"]) == (2, FLOATS + 32)
        assert sums["raw_by_reason"] == {RAW: 1, LITTLE: 1}
        # A maximum is no sum; its blocks are the whole array.
        assert found["ReduceScatter"]["raw_by_reason"] == {"operation not done compressed": 1}
        assert found["ReduceScatter"]["bytes"] == FLOATS
        # NCCL's own ncclBroadcast below ncclBcast is not the program's. Integers have no codec.
        assert found["Broadcast"]["calls"] == 1
        assert found["Broadcast"]["bytes"] == (FLOATS if rank == 3 else 0)
        assert found["Broadcast"]["raw_by_reason"] == {BYTES: 1}
        # Gathers of bytes, which may be of any types, have none either.
        assert found["AllGather"]["bytes"] == 2 * FLOATS
        assert found["AllGather"]["raw_by_reason"] == {RAW: 1, BYTES: 1}
        assert found["Send"]["bytes"] == FLOATS
        assert (found["Recv"]["calls"], found["Recv"]["bytes"]) == (1, 0)


def test_the_report_in_words() -> None:
    output, errors = run(PROGRAMS / "nccl_calls", gpus=True, CODEC="zfp:rate=16", REPORT="1")
    assert output == "ok\n"
    assert errors.startswith("thinwire: NCCL 22809, rank 0 alone, codec zfp:rate=16\n")
    raw = f'{{"{BYTES}": 1, "{RAW}": 1}}'
    assert f"AllGather  2 calls, {2 * FLOATS} bytes, raw {raw}" in errors


def test_a_program_can_ask_for_its_report(tmp_path: Path) -> None:
    program = PROGRAMS / "nccl_report"
    assert run(program, preload=False) == ("none\n", "")
    # Uncounted, the text is its end alone.
    assert run(program, CODEC="off") == ("1\n", "")
    told = []
    for settings in ({}, {"REPORT": tmp_path / "report"}):
        output, errors = run(program, CODEC="lorenzo", **settings)
        before, _, text = output.partition("\n")
        assert (before, errors) == ("1", "")
        told.append(json.loads(text))
    told.append(json.loads((tmp_path / "report.nccl.rank0").read_text()))
    for report in told:
        calls = [each["operations"]["AllGather"]["calls"] for each in report["communicators"]]
        assert calls == [1, 1]


def test_calls_are_raw_until_ranks_agree(tmp_path: Path) -> None:
    output, errors = run(PROGRAMS / "nccl_calls", CODEC="zfp:rate=16", REPORT=tmp_path / "report")
    assert (output, errors) == ("ok\n", "")
    for found in operations(tmp_path / "report.nccl.rank0"):
        for name in ("AllReduce", "AllGather", "Send", "Recv"):
            reasons = found[name]["raw_by_reason"]
            assert sum(reasons[each] for each in NOT_YET & set(reasons)) == 1


def test_nothing_is_said_unasked(tmp_path: Path) -> None:
    assert run(PROGRAMS / "nccl_calls", CODEC="zfp:rate=16") == ("ok\n", "")
    switched_off = {"DISABLE": "1", "REPORT": tmp_path / "report", "CODEC": "nonsense"}
    assert run(PROGRAMS / "nccl_calls", **switched_off) == ("ok\n", "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"CODEC": "nonsense"}, "THINWIRE_CODEC"),
        ({"TRESHOLD": "1MiB", "CODEC": "zfp:rate=16"}, "THINWIRE_TRESHOLD"),  # codespell:ignore
    ],
)
def test_a_wrong_setting_is_named_once(settings: dict[str, str], named: str) -> None:
    output, errors = run(PROGRAMS / "nccl_calls", REPORT="1", **settings)
    assert output == "ok\n"
    lines = [line for line in errors.splitlines() if "error" in line]
    assert len(lines) == 1 and named in lines[0]
    assert "codec off" in errors


@pytest.mark.parametrize("name", ["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"])
def test_one_rank_names_a_wrong_codec(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ""
    for rank in range(2):
        with monkeypatch.context() as environment:
            environment.delenv("RANK", raising=False)
            environment.setenv(name, str(rank))
            kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
            own = {"LD_PRELOAD": str(SHIM), "THINWIRE_CODEC": "nonsense"}
            own["THINWIRE_REPORT"] = str(tmp_path / "report")
            words = [str(PROGRAMS / "nccl_calls")]
            done = subprocess.run(
                words, env=kept | own, capture_output=True, text=True, timeout=60, check=True
            )
            said += done.stderr
        assert (tmp_path / f"report.nccl.rank{rank}").exists()
    assert said.count("THINWIRE_CODEC") == 1


def test_a_program_without_nccl_is_left_alone() -> None:
    assert run("/bin/echo", "here", REPORT="1") == ("here\n", "")


def test_a_python_that_makes_no_call_of_nccl_is_left_alone() -> None:
    """It looks names up, forks, starts others and ends as it does without the library."""
    program = """
import ctypes, multiprocessing, os, subprocess, sys, threading
own = ctypes.CDLL(None)
assert own.getpid() == os.getpid() and not hasattr(own, "a_name_of_none")
assert ctypes.CDLL("libm.so.6").labs(-3) == 3
thread = threading.Thread(target=subprocess.check_call, args=([sys.executable, "-c", ""],))
thread.start()
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.map(abs, [-1]) == [1]
thread.join()
print("here")
sys.exit(0)
"""
    words = (sys.executable, "-c", program)
    assert run(*words, REPORT="1", CODEC="lossless") == ("here\n", "")


def test_a_program_with_nccl_inside_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "this program has NCCL linked into it"
    output, errors = run(PROGRAMS / "nccl_inside", REPORT="1", CODEC="lossless")
    assert output == "ok\n"
    assert errors.count(text) == errors.count("thinwire") == 1
    # Nobody asked for a report; switched off; another rank says it; a program without NCCL.
    assert run(PROGRAMS / "nccl_inside", CODEC="lossless") == ("ok\n", "")
    assert run(PROGRAMS / "nccl_inside", REPORT="1", DISABLE="1") == ("ok\n", "")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    assert run(PROGRAMS / "nccl_inside", REPORT="1") == ("ok\n", "")
    monkeypatch.delenv("OMPI_COMM_WORLD_RANK")
    assert run("/bin/echo", "here", REPORT="1") == ("here\n", "")


def test_a_library_that_exports_what_it_takes_alone() -> None:
    said, _ = run("nm", "-D", "--defined-only", SHIM, preload=False)
    names = {line.split()[-1] for line in said.splitlines()}
    # include/thinwire/thinwire_nccl.h, and what answers lookups of the names below.
    own = {"tw_nccl_preload_stats", "tw_nccl_report", "dlsym"}
    assert {name for name in names if not name.startswith("nccl")} == own
    # Not those that came later and are not taken: a program must not find them here.
    taken = [
        "Bcast",
        "Send",
        "Recv",
        "GroupStart",
        "GroupEnd",
        "GroupSimulateEnd",
        "GetUniqueId",
        "RedOpCreatePreMulSum",
        "RedOpDestroy",
    ]
    of_communicators = [
        "InitRank",
        "InitRankConfig",
        "InitRankScalable",
        "InitAll",
        "Split",
        "Shrink",
        "Finalize",
        "Revoke",
        "Suspend",
        "Grow",
        "GetUniqueId",
        "Resume",
        "GetAsyncError",
        "Destroy",
        "Abort",
        "WindowRegister",
        "WindowDeregister",
    ]
    taken += [name + twin for name in COLLECTIVES for twin in ("", "Config")]
    of_nccl = {f"nccl{n}" for n in taken} | {f"ncclComm{n}" for n in of_communicators}
    assert names == of_nccl | own


def test_communicators_made_in_any_way_have_the_library_on_all_ranks(tmp_path: Path) -> None:
    output, errors = run(PROGRAMS / "nccl_membership", CODEC="lorenzo", REPORT=tmp_path / "report")
    assert (output, errors) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    found = [(each["ranks"], each["presence"]) for each in report["communicators"]]
    # Communicators of 4 ranks and their two halves, of all devices, and of a group.
    sizes = sorted(ranks for ranks, _ in found)
    # Those of five have two ids.
    assert sizes == [2] * 6 + [3] * 3 + [4] * 4 + [5] * 5
    for ranks, presence in found:
        # Those of the group are aborted at the end, which the helper may have come to.
        said = presence.split(", until")[0].replace("had", "have") if ranks == 3 else presence
        assert said == f"all {ranks} ranks have it"


def start(rank: int, ranks: int, path: Path, *, preload: bool = True, **settings: str) -> Popen:
    """A rank that is a process."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM)} if preload else {}
    words = [str(PROGRAMS / "nccl_membership"), str(rank), str(ranks), str(path / "id")]
    named = {"THINWIRE_REPORT": str(path / "report"), "RANK": str(rank)}
    named |= {"THINWIRE_TEST_SYSTEM": NO_SYSTEM} | settings
    return Popen(words, env=kept | own | named, stdout=PIPE, stderr=PIPE, text=True)


def presence_of(ranks: list[Popen], path: Path) -> tuple[set[str], str]:
    """What the reports of all processes say, and what they log."""
    ends = [rank.communicate(timeout=60) for rank in ranks]
    assert [output for output, _ in ends] == ["ok\n"] * len(ranks)
    reports = [json.loads(file.read_text()) for file in path.glob("report.nccl.rank*")]
    said = {each["presence"] for report in reports for each in report["communicators"]}
    return said, without_silence("".join(errors for _, errors in ends))


def test_processes_find_each_other(tmp_path: Path) -> None:
    ranks = [start(rank, 3, tmp_path, THINWIRE_CODEC="lorenzo") for rank in range(3)]
    said, errors = presence_of(ranks, tmp_path)
    summed = reports.merge(sorted(tmp_path.glob("report.nccl.rank*")), "job", pytest.fail)
    assert summed.reports == 3 and summed.sums.codec == "lorenzo:tuple=1"
    total = summed.sums.total()
    assert total.calls == total.compressed_calls + sum(summed.sums.nccl.raw.values()) > 0
    # Whoever ends last sees the others end.
    assert {text.split(",")[0] for text in said} <= {
        "all 3 ranks have it",
        "all 3 ranks had it",
    }
    assert errors == ""


def test_a_rank_without_the_library_is_told_of_once(tmp_path: Path) -> None:
    ranks = [
        start(rank, 3, tmp_path, preload=rank != 1, THINWIRE_CODEC="lorenzo", STAY="1")
        for rank in range(3)
    ]
    said, errors = presence_of(ranks, tmp_path)
    # Rank 2 may end a moment after rank 0, and hear that the ranks do not meet any more.
    ended = "raw: the process in which the ranks meet has ended before all had come"
    assert said - {ended} == {"raw: 1 of 3 ranks lacks it, or has not come yet"}
    assert errors.count("1 of 3 ranks lacks it") == 1


def test_ranks_that_differ_are_told_of_once(tmp_path: Path) -> None:
    ranks = [
        start(rank, 3, tmp_path, THINWIRE_CODEC="lorenzo", THINWIRE_THRESHOLD=threshold)
        for rank, threshold in enumerate(["1MiB", "64KiB", "1MiB"])
    ]
    said, errors = presence_of(ranks, tmp_path)
    assert len(said) == 1
    text = said.pop()
    assert text.startswith("raw: the threshold is ") and "65536 on rank 1" in text
    assert errors.count(text) == 1


def test_ranks_that_exchange_in_another_way_compress_nothing(tmp_path: Path) -> None:
    ranks = [
        start(rank, 2, tmp_path, THINWIRE_CODEC="lorenzo", THINWIRE_ALGORITHM=algorithm)
        for rank, algorithm in enumerate(["pairwise", "auto"])
    ]
    said, _ = presence_of(ranks, tmp_path)
    assert len(said) == 1
    text = said.pop()
    assert "in rounds on rank 0" in text and "at once on rank 1" in text


def test_an_id_from_a_process_that_lacks_it(tmp_path: Path) -> None:
    ranks = [
        start(rank, 2, tmp_path, preload=rank != 0, THINWIRE_CODEC="lorenzo") for rank in range(2)
    ]
    said, errors = presence_of(ranks, tmp_path)
    text = "raw: the unique id comes from a process that lacks it, or from NCCL_COMM_ID"
    assert said == {text}
    assert errors.count("thinwire") == errors.count(text) == 1


@pytest.mark.parametrize("codec", ["off", "auto"])
def test_nobody_is_asked_where_nothing_could_be_compressed(tmp_path: Path, codec: str) -> None:
    ranks = [start(rank, 2, tmp_path, THINWIRE_CODEC=codec) for rank in range(2)]
    said, errors = presence_of(ranks, tmp_path)
    assert (said, errors) == ({"not asked who has it"}, "")


@pytest.mark.slow
def test_a_call_on_the_way_through_is_cheap(tmp_path: Path) -> None:
    """Under a microsecond, counted or not: the least of several rounds, with and without."""
    without = float(run(PROGRAMS / "nccl_pass_time", preload=False)[0])
    passed = float(run(PROGRAMS / "nccl_pass_time")[0])
    counted = float(run(PROGRAMS / "nccl_pass_time", REPORT=tmp_path / "report")[0])
    asked = float(run(PROGRAMS / "nccl_pass_time", CODEC="auto")[0])
    assert passed - without < 1000
    assert counted - without < 1000
    assert asked - without < 1000
