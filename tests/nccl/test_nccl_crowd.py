"""Many ranks, many calls and many ends of NCCL's communicators."""

import json
import math
import os
import re
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_guard import communicators
from test_nccl_shim import PROGRAMS, SHIM, run

pytestmark = pytest.mark.multiproc


@pytest.mark.parametrize(
    ("ranks", "processes", "seconds"),
    [(300, 3, 10), pytest.param(4096, 8, 10, marks=pytest.mark.slow)],
)
def test_many_ranks_find_each_other(ranks: int, processes: int, seconds: int) -> None:
    """Over the loopback; no rank then has more connections than the tree has neighbours."""
    words = [str(PROGRAMS / "agree" / "agree_many"), str(ranks), str(processes), str(seconds)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("what", "sides", "limit"),
    [
        ("parts", (5, 4, 3, 2), 128),
        ("pairs", (5, 4, 2), 128),
        pytest.param("parts", (5, 4, 3, 5), 512, marks=pytest.mark.slow),
        pytest.param("parts", (8, 4, 4, 4), 512, marks=pytest.mark.slow),
        pytest.param("pairs", (5, 4, 3, 2), 1024, marks=pytest.mark.slow),
    ],
)
def test_many_ranks_take_few_descriptors(what: str, sides: tuple[int, ...], limit: int) -> None:
    """A process a rank, a split along each side of a mesh at once, then all with all."""
    words = [str(each) for each in (math.prod(sides), limit, 64, 60, *sides)]
    program = [str(PROGRAMS / "agree" / "agree_splits"), what]
    done = subprocess.run(program + words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def coded_and_spilled(path: Path) -> tuple[int, list[int]]:
    """Compressed AllGathers; spilled blocks by communicator of several ranks, in order."""
    report = json.loads(path.read_text())
    found = [each["operations"].get("AllGather") for each in report["communicators"]]
    used = [each for each in found if each]
    compressed = sum(each["compressed_calls"] for each in used)
    return compressed, [each["spilled_blocks"] for each in used]


@pytest.mark.parametrize(
    ("mode", "rounds", "seed"),
    [("any", 6, 1), ("abort", 6, 2), pytest.param("abort", 100, 5, marks=pytest.mark.slow)],
)
def test_communicators_come_and_go_at_random(
    mode: str, rounds: int, seed: int, tmp_path: Path
) -> None:
    """A hang ends the program by a signal. In every other round blocks stop fitting."""
    come_and_go(mode, rounds, seed, tmp_path)


@pytest.mark.parametrize("blocking", ["", "2"])
def test_numbers_by_which_nccl_does_not_say_whether_calls_block(
    blocking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each communicator's configuration does."""
    monkeypatch.setenv("NCCL_COMM_BLOCKING", blocking)
    come_and_go("any", 6, 1, tmp_path)


def come_and_go(mode: str, rounds: int, seed: int, tmp_path: Path) -> None:
    words = (PROGRAMS / "nccl_ways", mode, str(rounds), str(seed))
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, _ = run(*words, patience=60 + 5 * rounds, LOG="off", **settings)
    assert output == "ok\n"
    compressed, spilled = coded_and_spilled(tmp_path / "report.nccl.rank0")
    assert compressed > rounds * 100
    assert sum(spilled) > 0


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 41))]
)
def test_a_rank_that_is_killed_holds_up_no_other(seed: int, tmp_path: Path) -> None:
    """The others abort, and end; under an odd seed while blocks go by way of the hosts."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"LD_PRELOAD": str(SHIM), "RANKS_FILE": str(tmp_path / "id")}
    own |= {"THINWIRE_CODEC": "lorenzo", "THINWIRE_SAME_NODE": "1", "THINWIRE_LOG": "off"}
    own["THINWIRE_FORCE"] = "1"
    own |= {"THINWIRE_THRESHOLD": "1KiB", "THINWIRE_REPORT": str(tmp_path / "report")}
    words = [str(PROGRAMS / "nccl_ways"), "killed", "1", str(seed)]
    ranks = [
        Popen(words, env=kept | own | {"RANK": str(rank)}, stdout=PIPE, stderr=PIPE, text=True)
        for rank in range(3)
    ]
    ends = [rank.communicate(timeout=120)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0, -signal.SIGKILL]
    assert ends == ["ok\n", "ok\n", ""]
    for rank in range(2):
        assert coded_and_spilled(tmp_path / f"report.nccl.rank{rank}")[0] > 20


@pytest.mark.parametrize("calls", [5_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_a_long_run_keeps_its_order_and_its_memory(calls: int, tmp_path: Path) -> None:
    """Of each of two ranks, on four communicators; the program compares its memory itself."""
    words = (PROGRAMS / "nccl_long", str(calls), "7")
    settings = {"CODEC": "lorenzo", "THRESHOLD": "1KiB", "REPORT": tmp_path / "report"}
    output, errors = run(*words, patience=120 + calls // 500, **settings)
    assert output == "ok\n", errors
    report = json.loads((tmp_path / "report.nccl.rank0").read_text())
    of_all = [each["operations"] for each in report["communicators"]]
    compressed = sum(each["compressed_calls"] for of in of_all for each in of.values())
    assert compressed > calls


# Some hundred ranks in one job, each a process with few file descriptors.


CROWD = PROGRAMS / "nccl_crowd"


def test_a_mesh_and_messages_of_all_to_all(tmp_path: Path) -> None:
    """The program checks all values, that the ranks of every communicator find each other, and that
    a rank has at most 64 descriptors more than at first once nobody has anything to say."""
    words = ("1024", "3", "3", "150", "4", "4", "2")
    named = {"CODEC": "lossless", "THRESHOLD": "1KiB", "LOG": "off"}
    output, _ = run(CROWD, tmp_path / "id", *words, **named)
    assert "32 ranks, present in 4 communicators, 0 wrong" in output
    compressed = re.search(r"(\d+) messages", output)
    assert compressed is not None
    assert int(compressed[1]) > 0, output


def test_a_hundred_ranks_of_the_libnccl_itself(tmp_path: Path) -> None:
    words = ("64", "2", "2", "10", "10", "5", "2")
    output, _ = run(CROWD, tmp_path / "id", *words, preload=False)
    assert "100 ranks, present in 0 communicators, 0 wrong" in output


def of_its_own(output: str) -> int:
    """KiB of the rank that has most."""
    found = re.search(r"memory: (\d+) KiB private", output)
    assert found is not None, output
    return int(found[1])


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("library", [False, True], ids=["natively", "library"])
def test_a_thousand_ranks_hold_little_more_each_than_four(library: bool, tmp_path: Path) -> None:
    """Processes; under the library every communicator has it on all ranks, or the program fails."""
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "LOG": "off"} if library else {}
    memory = []
    for side in (2, 32):
        words = ("1024", "0", "0", "1", side, side)
        file = tmp_path / f"id{side}"
        output, _ = run(CROWD, file, *map(str, words), preload=library, patience=400, **settings)
        assert f"{side * side} ranks, present in {3 if library else 0} " in output
        memory.append(of_its_own(output))
    # Natively, too, they share memory; the list of ranks has some 100 bytes for each.
    assert memory[1] - memory[0] < 4096, memory


# Compressed sums make NCCL connect ranks: how many is bounded, and told.

MANY = "NCCL would have to connect with too many ranks"


def coded(path: Path, **settings: str) -> list[dict]:
    """What a program of four ranks reports, whose messages go round in a ring."""
    named = {"CODEC": "lossless:reductions=coded", "REPORT": str(path / "report")} | settings
    assert run(PROGRAMS / "nccl_coded", "150", **named) == ("ok\n", "")
    return communicators(path / "report.nccl.rank0")


def test_sums_that_would_connect_too_many_ranks_are_raw(tmp_path: Path) -> None:
    for rank in coded(tmp_path, CONNECTIONS="2"):
        assert rank["connections"] == {"ranks": 0, "estimated_bytes": 0}
        for name in ("AllReduce", "ReduceScatter"):
            assert rank["operations"][name]["compressed_calls"] == 0
            assert rank["operations"][name]["raw_by_reason"][MANY] > 10
        assert rank["operations"]["AllGather"]["compressed_calls"] > 0


def test_what_sums_connect_is_told(tmp_path: Path) -> None:
    for rank in coded(tmp_path):
        # The three others share this rank's node.
        assert rank["connections"] == {"ranks": 3, "estimated_bytes": 3 * (480 << 20)}
        assert rank["operations"]["AllReduce"]["compressed_calls"] > 0


def test_the_report_in_words_has_it(tmp_path: Path) -> None:
    named = {"CODEC": "lossless:reductions=coded", "REPORT": "1"}
    _, errors = run(PROGRAMS / "nccl_coded", "150", **named)
    assert "with 3 ranks more, for which NCCL takes some 1440 MiB of GPU memory" in errors
