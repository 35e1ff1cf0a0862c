"""NCCL programs whose calls are compressed, over a libnccl of host memory."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM, expect_taken, run

pytestmark = pytest.mark.multiproc

CALLS = 340
BLOCK = 4 * 20_000  # bytes


def figures(path: Path) -> dict[str, list[dict]]:
    """By operation: what each rank's report says."""
    report = json.loads(path.read_text())
    ranks = sorted(report["communicators"], key=lambda each: each["rank"])
    names = ranks[0]["operations"]
    return {name: [each["operations"][name] for each in ranks] for name in names}


@pytest.mark.parametrize("codec", ["lorenzo", "lossless"])
def test_calls_that_come_again_are_compressed(codec: str, tmp_path: Path) -> None:
    output, errors = run(
        PROGRAMS / "nccl_coded", str(CALLS), CODEC=codec, REPORT=tmp_path / "report"
    )
    assert (output, errors) == ("ok\n", "")
    for name, ranks in figures(tmp_path / "report.nccl.rank0").items():
        for each in ranks:
            assert each["calls"] == CALLS
            raw = sum(each["raw_by_reason"].values())
            assert each["compressed_calls"] + raw == CALLS
            # From 64 calls of the communicator, or messages of a pair, after all have offered.
            assert each["compressed_calls"] >= (60 if name in ("Send", "Recv") else 200)
            assert each["spilled_blocks"] == each["spilled_blocks_received"] == 0
            if each["bytes"] > 0 and name != "Broadcast":
                assert each["wire_bytes"] < each["bytes"] * 0.95
                assert each["trials"] > 0
        # All ranks do the same calls alike.
        if name not in ("Send", "Recv"):
            assert len({each["compressed_calls"] for each in ranks}) == 1
    frames = [each["frames"] for each in figures(tmp_path / "report.nccl.rank0")["AllGather"]]
    assert min(frames) > 200


def test_what_does_not_fit_travels_all_the_same(tmp_path: Path) -> None:
    output, errors = run(
        PROGRAMS / "nccl_coded", str(CALLS), "noise", CODEC="lorenzo", REPORT=tmp_path / "report"
    )
    assert (output, errors) == ("ok\n", "")
    found = figures(tmp_path / "report.nccl.rank0")
    for name in ("AllGather", "AllReduce", "ReduceScatter", "Send"):
        assert all(each["spilled_blocks"] > 0 for each in found[name]), name
    assert all(each["spilled_blocks_received"] > 0 for each in found["Recv"])
    sent = sum(each["spilled_blocks"] for each in found["Send"])
    assert sum(each["spilled_blocks_received"] for each in found["Recv"]) == sent
    # A block that is spilled is a spilled block on each of the three others.
    gathered = found["AllGather"]
    came = sum(each["spilled_blocks_received"] for each in gathered)
    assert came == 3 * sum(each["spilled_blocks"] for each in gathered)


def test_over_an_nccl_of_gpus_all_stays_raw_where_there_is_none(tmp_path: Path) -> None:
    output, errors = run(
        PROGRAMS / "nccl_coded", "300", gpus=True, CODEC="lorenzo", REPORT=tmp_path / "report"
    )
    assert (output, errors) == ("ok\n", "")
    for ranks in figures(tmp_path / "report.nccl.rank0").values():
        for each in ranks:
            assert each["compressed_calls"] == each["trials"] == 0
            assert each["raw_by_reason"] == {"no GPU that this build could use": each["calls"]}


@pytest.mark.parametrize(
    ("codec", "taken", "ranks", "error"),
    [
        ("lossless", 4, 3, ()),
        ("expack", 3, 4, ()),
        ("mpc", 2, 2, ()),
        ("zfp:rate=16", 2, 2, ("1",)),
        ("zfp:rate=16", 2, 4, ("1",)),
    ],
)
def test_every_operation_in_every_type(
    codec: str, taken: int, ranks: int, error: tuple[str, ...], tmp_path: Path
) -> None:
    """As tests/gpu runs it over NCCL. `taken`: of the program's four types."""
    words = (PROGRAMS / "nccl_every", "14", *error)
    output, errors = run(
        *words, ranks=ranks, CODEC=codec, THRESHOLD="1KiB", REPORT=tmp_path / "report"
    )
    assert (output, errors) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    used = [each["operations"] for each in report["communicators"] if each["operations"]]
    # Above two ranks a Reduce is for smaller blocks than all of these are.
    raw = set() if ranks == 2 or error else {"Reduce"}
    coded = [
        all(each["compressed_calls"] > 20 for name, each in of.items() if name not in raw)
        for of in used
    ]
    assert (len(coded), sum(coded)) == (4 * ranks, taken * ranks)
    spilled = sum(each["spilled_blocks"] for of in used for each in of.values())
    assert (spilled > 0) == (error == ())


@pytest.mark.parametrize("words", [("nccl_every", "14"), ("nccl_random", "8", "3000")])
def test_rounds_come_to_the_same(words: tuple[str, ...], tmp_path: Path) -> None:
    program, *arguments = words
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(PROGRAMS / program, *arguments, ALGORITHM="pairwise", **settings)
    assert (output, errors) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    coded = [
        each["operations"].get(name, {}).get("compressed_calls", 0)
        for each in report["communicators"]
        for name in ("ReduceScatter", "AllReduce", "AlltoAll")
    ]
    assert sum(coded) > 100


@pytest.mark.parametrize("where", ["host", "memory", "mixed"])
def test_sums_of_the_programs_own_are_compressed(where: str, tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_own_sums", str(CALLS), where)
    expect_taken(*words)
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(*words, **settings) == ("ok\n", "")
    for ranks in figures(tmp_path / "report.nccl.rank0").values():
        # These are the calls of four types; the last call of all is refused. Integers have no
        # codec.
        assert all(each["compressed_calls"] > 2 * CALLS for each in ranks)
        reason = "datatype not taken by the codec"
        assert all(each["raw_by_reason"][reason] == 2 * CALLS for each in ranks)
        assert len({each["compressed_calls"] for each in ranks}) == 1


def test_an_nccl_without_the_newest_operations() -> None:
    """It has no ncclAlltoAll, ncclGather and ncclScatter: the program gets them as messages."""
    assert run(PROGRAMS / "nccl_every", "8", gpus=True, CODEC="lossless") == ("ok\n", "")


def messages(path: Path) -> tuple[int, int, int]:
    """All ranks' Sends: those that were compressed, their blocks that spilled, and the Recvs'."""
    report = json.loads(path.read_text())
    of_all = [each["operations"] for each in report["communicators"]]
    sends = [of["Send"] for of in of_all if "Send" in of]
    spilled = sum(each["spilled_blocks"] for each in sends)
    came = sum(of["Recv"]["spilled_blocks_received"] for of in of_all if "Recv" in of)
    return sum(each["compressed_calls"] for each in sends), spilled, came


def test_a_mixture_of_experts(tmp_path: Path) -> None:
    """1000 steps of parts that change at each, some of no rows: less than one in 100 spills."""
    words = (PROGRAMS / "nccl_experts", "steps")
    expect_taken(*words, "20")
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(*words, "1000", **settings) == ("ok\n", "")
    compressed, spilled, came = messages(tmp_path / "report.nccl.rank0")
    # There are some 21,000 messages between ranks.
    assert compressed > 16_000
    assert came == spilled < compressed / 100


def test_groups_of_several_communicators(tmp_path: Path) -> None:
    """By one thread, with reductions that the program ends before the group."""
    words = (PROGRAMS / "nccl_experts", "several", "150")
    expect_taken(*words)
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(*words, **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    used = [each["operations"] for each in report["communicators"] if each["operations"]]
    assert len(used) == 8
    for of in used:
        assert min(of[name]["compressed_calls"] for name in ("AllReduce", "Reduce", "Send")) > 40


RANDOM_CALLS = 5000


@pytest.mark.parametrize("seed", [3, 4])
def test_random_programs_whose_calls_do_not_block(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NCCL refuses for good whoever calls before the call before has been seen to succeed."""
    monkeypatch.setenv("NCCL_COMM_BLOCKING", "0")
    words = (PROGRAMS / "nccl_random", str(seed), "1200")
    expect_taken(*words, patience=300)
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(*words, patience=300, **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    of_all = [each["operations"] for each in report["communicators"]]
    assert sum(each["compressed_calls"] for of in of_all for each in of.values()) > 300


@pytest.mark.parametrize("seed", [2, 3, 4, 5, 6, 7])
def test_random_programs_come_to_the_same_bits(seed: int, tmp_path: Path) -> None:
    """Natively too, which shows that the program is one that NCCL takes."""
    words = (PROGRAMS / "nccl_random", str(seed), str(RANDOM_CALLS))
    expect_taken(*words, patience=300)
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(*words, patience=300, **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    of_all = [each["operations"] for each in report["communicators"]]
    coded = sum(each["compressed_calls"] for of in of_all for each in of.values())
    assert coded > 300


def test_launches_that_wait_for_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a block that does not fit leaves by way of the hosts."""
    monkeypatch.setenv("FAKE_NCCL_LAUNCHES_WAIT", "1")
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_every", "20", **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    of_all = [each["operations"] for each in report["communicators"]]
    assert sum(each["spilled_blocks"] for of in of_all for each in of.values()) > 0


def test_a_host_that_is_a_thousand_calls_ahead(tmp_path: Path) -> None:
    """On two communicators at once, with values that no longer fit."""
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(PROGRAMS / "nccl_load", "ahead", **settings)
    assert output == "ok\n"
    assert min(int(line.split()[0]) for line in errors.splitlines()) > 500
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    used = [each["operations"] for each in report["communicators"] if each["operations"]]
    # There are 250 calls, all of which the host has made before the kind changes.
    assert min(of[name]["spilled_blocks"] for of in used for name in of) >= 120


def test_64_busy_streams(tmp_path: Path) -> None:
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_load", "streams", **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    used = [each["operations"] for each in report["communicators"] if each["operations"]]
    assert min(of[name]["compressed_calls"] for of in used for name in of) > 40
    assert min(of[name]["spilled_blocks"] for of in used for name in of) > 0


@pytest.mark.parametrize("way", ["destroy", "abort", "abort-spilling", "refuse", "one-thread"])
def test_programs_end_while_calls_are_under_way(way: str, tmp_path: Path) -> None:
    output, errors = run(
        PROGRAMS / "nccl_ends", way, CODEC="lorenzo", REPORT=tmp_path / "report", LOG="error"
    )
    assert output == "ok\n", errors
    # If a rank aborts, calls of the others fail.
    if way in ("destroy", "one-thread"):
        assert errors == ""
    gathered = figures(tmp_path / "report.nccl.rank0")["AllGather"]
    assert all(each["compressed_calls"] > 0 for each in gathered)
    if way == "destroy":
        assert all(each["spilled_blocks"] == 4 for each in gathered)
        assert all(each["spilled_blocks_received"] == 8 for each in gathered)


WAYS = ["finalize", "shrink", "shrink-dead", "shrink-root", "revoke", "simulate", "grow"]
# Without blocking: some of them.
LATER = ["finalize", "shrink", "shrink-root", "revoke", "grow"]


@pytest.mark.parametrize(
    ("way", "blocking"),
    # NCCL reads a word as 0.
    [(way, "1") for way in WAYS] + [(way, "0") for way in LATER] + [("finalize", "true")],
)
def test_communicators_live_and_end_in_every_way(
    way: str, blocking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocking)
    words = (PROGRAMS / "nccl_lives", way)
    expect_taken(*words)
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(*words, **settings)
    assert output == "ok\n"
    # Calls fail on what has lost a rank, or that another rank has revoked.
    assert errors == "" or way in ("shrink-dead", "revoke")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    by_size: dict[int, list[dict]] = {}
    for each in report["communicators"]:
        by_size.setdefault(each["ranks"], []).append(each)
    if way == "grow":
        # The communicator from which all others are made takes no calls.
        by_size[4] = [each for each in by_size[4] if each["operations"]]
    sizes = {size: len(each) for size, each in by_size.items()}
    parts = {"shrink": {3: 6, 2: 4}, "simulate": {2: 4}, "grow": {3: 3}}.get(way, {})
    assert sizes == {4: 4} | (parts or ({3: 3} if way.startswith(("shrink", "revoke")) else {}))
    for size, communicators in by_size.items():
        counts = [each["operations"]["AllGather"] for each in communicators]
        assert all(each["compressed_calls"] > 60 for each in counts)
        if way in ("finalize", "shrink", "simulate") and size == 4:
            assert len({each["compressed_calls"] for each in counts}) == 1
    if way == "simulate":
        # The simulated ones do not count.
        assert all(
            each["operations"]["AllGather"]["calls"] == 380 and "Send" not in each["operations"]
            for each in by_size[4]
        )
    if way == "finalize":
        assert all(each["operations"]["AllGather"]["spilled_blocks"] == 4 for each in by_size[4])


def test_a_rank_in_no_part_of_a_split(tmp_path: Path) -> None:
    """What it writes to the place that it named for the handle is none."""
    settings = {"CODEC": "lossless", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_nocolor", **settings) == ("ok\n", "")
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    assert len(report["communicators"]) == 3, "of two ranks, and a part of one"


@pytest.mark.parametrize("blocking", ["1", "0"])
def test_calls_behind_an_abort_are_refused_as_ever(
    blocking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocking)
    words = (PROGRAMS / "nccl_lives", "behind-abort")
    expect_taken(*words)
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(*words, **settings)
    assert output == "ok\n", errors
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    living = [each["operations"]["AllGather"] for each in report["communicators"] if each["ranks"]]
    assert [each["calls"] for each in living] == [330] * 8
    assert all(each["compressed_calls"] > 60 for each in living)


def test_a_communicator_of_one_rank_stays_raw(tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_lives", "alone")
    expect_taken(*words)
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(*words, **settings) == ("ok\n", "")
    (only,) = json.loads((tmp_path / "report.nccl.rank0").read_text())["communicators"]
    assert only["ranks"] == 1
    assert set(only["operations"]) == {"AllGather", "Send", "Recv"}
    for each in only["operations"].values():
        assert each["raw_by_reason"] == {"to itself, or of one rank": each["calls"]}


LISTENER = PROGRAMS / "libnccl_nvtx_listener.so"


@pytest.mark.skipif(not LISTENER.exists(), reason="built without NVTX's headers")
def test_profilers_see_compressed_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(LISTENER))
    monkeypatch.setenv("NVTX_LISTENER_FILE", str(tmp_path / "ranges"))
    settings = {"CODEC": "lossless", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_coded", str(CALLS), **settings) == ("ok\n", "")
    lines = (tmp_path / "ranges").read_text().splitlines()
    coded = {
        name: sum(each["compressed_calls"] for each in ranks)
        for name, ranks in figures(tmp_path / "report.nccl.rank0").items()
    }
    for name, bytes_of in (
        ("AllGather", BLOCK),
        ("ReduceScatter", BLOCK),
        ("AllReduce", 4 * BLOCK),
    ):
        text = f"push {name} lossless {bytes_of} bytes, payload {bytes_of}"
        assert lines.count(text) == coded[name] > 0
    # A Send and a Recv in one group, or one of them.
    pairs = lines.count(f"push group of 2 lossless {2 * BLOCK} bytes, payload {2 * BLOCK}")
    for name in ("Send", "Recv"):
        of_one = f"{name} lossless {BLOCK} bytes, payload {BLOCK}"
        assert lines.count(f"mark {of_one}") == pairs > 0
        assert pairs + lines.count(f"push {of_one}") == coded[name]
    assert lines.count("pop") == sum(line.startswith("push") for line in lines)


def test_slots_become_smaller_with_their_data(tmp_path: Path) -> None:
    """Of 1300 calls that need a tenth the later ones go so, not by what 300 before them needed."""
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    assert run(PROGRAMS / "nccl_lives", "calms", **settings) == ("ok\n", "")
    for each in figures(tmp_path / "report.nccl.rank0")["AllGather"]:
        raw = each["bytes"] * (each["calls"] - each["compressed_calls"]) / each["calls"]
        coded = each["bytes"] - raw
        assert (each["wire_bytes"] - raw) / coded < 0.45
        assert each["spilled_blocks"] == 0


def test_ranks_that_are_processes(tmp_path: Path) -> None:
    """With blocks that are spilled."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {
        "LD_PRELOAD": str(SHIM),
        "RANKS_FILE": str(tmp_path / "id"),
        "THINWIRE_CODEC": "lorenzo",
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_FORCE": "1",
        "THINWIRE_REPORT": str(tmp_path / "report"),
    }
    words = [str(PROGRAMS / "nccl_coded"), str(CALLS), "noise"]
    ranks = [
        Popen(words, env=kept | own | {"RANK": str(rank)}, stdout=PIPE, stderr=PIPE, text=True)
        for rank in range(4)
    ]
    assert [rank.communicate(timeout=120) for rank in ranks] == [("ok\n", "")] * 4
    came = 0
    for rank in range(4):
        (gathered,) = figures(tmp_path / f"report.nccl.rank{rank}")["AllGather"]
        assert gathered["compressed_calls"] >= 200
        came += gathered["spilled_blocks_received"]
    assert came > 0


@pytest.mark.slow
def test_a_coded_call_costs_the_host_little() -> None:
    """Beside what it asks of NCCL and the stream: a microsecond, of the least of several rounds."""
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB"}
    whole, below = run(PROGRAMS / "nccl_coded_time", **settings)[0].split()
    assert float(whole) - float(below) < 1000


# Calls enough that some are left after the ranks of a busy machine have agreed.
@pytest.mark.parametrize("words", [("6000",), ("6000", "stays")])
def test_a_rank_may_end_before_others_have_made_their_last_call(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(tmp_path / "id"), "RANKS": "2"}
    own |= {"THINWIRE_CODEC": "lossless", "THINWIRE_THRESHOLD": "1KiB", "THINWIRE_FORCE": "1"}
    own |= {"THINWIRE_SAME_NODE": "1", "THINWIRE_REPORT": str(tmp_path / "report")}
    started = [
        Popen(
            [str(PROGRAMS / "nccl_early"), *words],
            env=kept | own | {"RANK": str(rank)},
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    assert [each.communicate(timeout=120) for each in started] == [("ok\n", "")] * 2
    report = json.loads((tmp_path / "report.nccl.rank1").read_text())
    (communicator,) = report["communicators"]
    assert communicator["operations"]["Recv"]["compressed_calls"] > 100


@pytest.mark.parametrize("where", ["thread", "static", "exit"])
def test_calls_while_a_thread_or_the_process_ends(where: str, tmp_path: Path) -> None:
    """When what a thread keeps for itself has been destroyed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(tmp_path / "id"), "RANKS": "2"}
    for name, value in {"CODEC": "lossless", "SAME_NODE": "1", "FORCE": "1"}.items():
        own[f"THINWIRE_{name}"] = value
    own["THINWIRE_THRESHOLD"] = "1KiB"
    words = [str(PROGRAMS / "nccl_late"), where]
    ranks = [
        Popen(words, env=kept | own | {"RANK": str(rank)}, stdout=PIPE, stderr=PIPE, text=True)
        for rank in range(2)
    ]
    assert [rank.communicate(timeout=120) for rank in ranks] == [("ok\n", "")] * 2
    assert [rank.returncode for rank in ranks] == [0, 0]
