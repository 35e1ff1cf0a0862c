"""The library under the settings, programs and mistakes that it meets in the field."""

import importlib.util
import sys
from pathlib import Path

import pytest
from shim_runs import (
    EXCHANGE,
    MPIRUN,
    PRODUCTION,
    SHRINK,
    TESTING,
    ZFP,
    largest_differences,
    mpirun,
    preloaded,
    read_report,
    run,
)

pytestmark = pytest.mark.multiproc

MESSAGES = 6  # of a run of EXCHANGE on two ranks

# The error of zfp at 16 bits a value on the smooth data of EXCHANGE; raw messages arrive exactly.
WORST_LOSS = 1e-3


@pytest.mark.parametrize(
    "words",
    [["bash", "-c", "echo ok; exit 3"], [sys.executable, "-c", "print('ok'); exit(3)"]],
    ids=["bash", "python"],
)
def test_silent_in_programs_without_mpi(words: list[str]) -> None:
    done = run(words, {**ZFP, "LD_PRELOAD": str(PRODUCTION), "THINWIRE_REPORT": "1"})
    assert (done.code, done.output, done.errors) == (3, "ok\n", "")


def test_silent_in_the_launcher_itself(tmp_path: Path) -> None:
    """And found by the ranks, which inherit the launcher's environment on this node."""
    words = [*MPIRUN, "-n", "2", EXCHANGE]
    settings = {**ZFP, "LD_PRELOAD": str(PRODUCTION)}
    done = run(words, settings, tmp_path / "report.json")
    assert (done.code, done.errors) == (0, "")
    assert done.report is not None
    assert done.report["compressed_messages"] == MESSAGES


def test_compresses_and_stays_within_the_codecs_loss(tmp_path: Path) -> None:
    done = mpirun(2, [EXCHANGE], PRODUCTION, ZFP, tmp_path / "report.json")
    differences = largest_differences(done.output)
    assert (done.code, done.errors, sorted(differences)) == (0, "", [0, 1])
    assert all(0 < difference < WORST_LOSS for difference in differences.values())
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == MESSAGES
    assert done.report["wire_bytes"] < 0.6 * done.report["bytes"]


def test_report_on_standard_error() -> None:
    done = mpirun(2, [EXCHANGE], PRODUCTION, {**ZFP, "THINWIRE_REPORT": "1"})
    assert done.code == 0
    assert f"compressed  {MESSAGES} messages" in done.errors
    assert done.errors.count("thinwire: 2 ranks, codec zfp:rate=16") == 1


def expect_raw(settings: dict[str, str], report: Path, reason: str | None, line: str) -> None:
    """Exact data, nothing compressed, one line of explanation and the report's reason."""
    done = mpirun(2, [EXCHANGE], PRODUCTION, settings, report)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0, 1: 0}
    assert done.report is not None
    assert done.report["compressed_messages"] == 0
    if reason is not None:
        assert done.report["raw_by_reason"] == {reason: MESSAGES}
    assert sum(line in each for each in done.thinwire_lines()) == 1, done.errors


def test_ranks_of_one_node_go_raw_by_default_and_say_so(tmp_path: Path) -> None:
    settings = {"THINWIRE_CODEC": "zfp:rate=16"}
    expect_raw(settings, tmp_path / "report", "peer on the same node", "THINWIRE_SAME_NODE=1")


def test_a_wrong_codec_is_one_line_and_a_raw_run(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_CODEC": "zpf:rate=16"}
    expect_raw(settings, tmp_path / "report", None, "THINWIRE_CODEC: ")


@pytest.mark.parametrize(
    ("wrong", "holds"),
    [
        ({"THINWIRE_THRESHOLD": "many"}, "64KiB holds"),
        ({"THINWIRE_LINK": "fast"}, "not stated holds"),
        ({"THINWIRE_LOG": "loud"}, "warning holds"),
        ({"THINWIRE_GPU_AWARE": "2"}, "as the MPI says holds"),
        ({"THINWIRE_COLLECTIVES": "on,bcats"}, "on holds"),
        ({"THINWIRE_ALGORITHM": "rings"}, "planned holds"),
        ({"THINWIRE_TRESHOLD": "1MiB"}, "THINWIRE_THRESHOLD, where 64KiB holds"),
        ({"THINWIRE_FLAVOUR": "sweet"}, "it is ignored"),
    ],
    ids=lambda value: (
        next(iter(value)).removeprefix("THINWIRE_") if isinstance(value, dict) else ""
    ),
)
def test_a_wrong_setting_is_one_line_and_nothing_lossy_runs(
    wrong: dict[str, str], holds: str, tmp_path: Path
) -> None:
    (name,) = wrong
    for codec, messages in (("zfp:rate=16", 0), ("mpc", MESSAGES)):
        settings = {**ZFP, "THINWIRE_CODEC": codec, "THINWIRE_FORCE": "1", **wrong}
        done = mpirun(2, [EXCHANGE], PRODUCTION, settings, tmp_path / f"{codec}.json")
        assert done.code == 0, done.errors
        assert largest_differences(done.output) == {0: 0, 1: 0}
        (line,) = done.thinwire_lines()
        assert f"{name}: " in line and holds in line and "no lossy codec is used" in line
        assert done.report is not None
        assert done.report["compressed_messages"] == messages


def test_a_same_node_of_2_is_said_and_means_no(tmp_path: Path) -> None:
    settings = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "2"}
    expect_raw(settings, tmp_path / "report", "peer on the same node", "SAME_NODE: '2'")


def test_several_wrong_settings_are_a_line_each() -> None:
    wrong = {"THINWIRE_TRESHOLD": "1MiB", "THINWIRE_POOL": "big"}
    done = mpirun(2, [EXCHANGE], PRODUCTION, {**ZFP, **wrong})
    assert sorted(line.split(": ")[2] for line in done.thinwire_lines()) == [
        "THINWIRE_POOL",
        "THINWIRE_TRESHOLD",
    ]


def test_a_rank_with_a_wrong_setting_of_its_own_sends_nothing_lossy(tmp_path: Path) -> None:
    preload = [f"LD_PRELOAD={PRODUCTION}"]
    words = two_kinds(preload, [*preload, "THINWIRE_TRESHOLD=1MiB"])
    done = run(words, ZFP, tmp_path / "report.json")
    assert done.code == 0, done.errors
    differences = largest_differences(done.output)
    # Rank 0 receives what rank 1 sends.
    assert differences[0] == 0 and 0 < differences[1] < WORST_LOSS
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == MESSAGES // 2


def test_a_wrong_word_for_disabled_is_said_and_disables(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_DISABLE": "yes"}
    done = mpirun(2, [EXCHANGE], PRODUCTION, settings, tmp_path / "report.json")
    assert done.code == 0 and done.report is None
    assert largest_differences(done.output) == {0: 0, 1: 0}
    (line,) = done.thinwire_lines()
    assert "THINWIRE_DISABLE: 'yes' is neither 0 nor 1; 1 holds" in line


def test_a_codec_of_gpus_alone_is_one_line_and_a_raw_run(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_CODEC": "nvcomp-ans"}
    expect_raw(settings, tmp_path / "report", None, "nvcomp-ans takes GPU memory only")


def test_a_link_faster_than_the_codec_goes_raw(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_LINK": "1000gbit"}
    why = f"nothing was compressed: {MESSAGES} messages (would not gain)"
    expect_raw(settings, tmp_path / "report", None, why)


def test_a_slow_link_compresses(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_LINK": "10mbit"}
    done = mpirun(2, [EXCHANGE], PRODUCTION, settings, tmp_path / "report.json")
    assert (done.code, done.errors) == (0, "")
    assert done.report is not None
    assert done.report["compressed_messages"] == MESSAGES
    assert done.report["predicted_seconds"] > 0


def test_disabled_is_the_mpi_as_it_was(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_DISABLE": "1"}
    done = mpirun(2, [EXCHANGE], PRODUCTION, settings, tmp_path / "report.json")
    assert (done.code, done.errors, done.report) == (0, "", None)
    assert largest_differences(done.output) == {0: 0, 1: 0}


def test_without_a_launcher(tmp_path: Path) -> None:
    """A single process talks to itself, raw: nothing proves what others run."""
    report = tmp_path / "report.json"
    done = run(preloaded([EXCHANGE], PRODUCTION), ZFP, report)
    assert (done.code, done.errors) == (0, "")
    assert set(largest_differences(done.output)) == {0}


def two_kinds(first: list[str], second: list[str]) -> list[str]:
    """One job: rank 0 as `env FIRST program`, rank 1 as `env SECOND program`."""
    program = str(EXCHANGE)
    return [*MPIRUN, "-n", "1", "env", *first, program, ":", "-n", "1", "env", *second, program]


@pytest.mark.parametrize("first_has_it", [True, False])
def test_a_rank_without_the_library_gets_raw_data(first_has_it: bool) -> None:
    preload = [f"LD_PRELOAD={PRODUCTION}"]
    words = two_kinds(preload, []) if first_has_it else two_kinds([], preload)
    done = run(words, ZFP)
    assert done.code == 0, done.errors
    assert largest_differences(done.output) == {0: 0, 1: 0}
    (line,) = done.thinwire_lines()
    assert "does not run this Thinwire" in line


@pytest.mark.parametrize(
    ("first", "second", "compressed"),
    [
        ({"THINWIRE_CODEC": "off"}, {}, MESSAGES // 2),
        ({"THINWIRE_THRESHOLD": "1MiB"}, {}, MESSAGES // 2),
        ({"THINWIRE_THRESHOLD": "76"}, {"THINWIRE_THRESHOLD": "128KiB"}, MESSAGES),
        ({"THINWIRE_CODEC": "zfp:rate=12"}, {"THINWIRE_CODEC": "zfp:rate=24"}, MESSAGES),
        ({"THINWIRE_DISABLE": "1"}, {}, None),
    ],
    ids=["one off", "one with a high threshold", "thresholds", "rates", "one disabled"],
)
def test_ranks_with_different_settings(
    first: dict[str, str], second: dict[str, str], compressed: int | None, tmp_path: Path
) -> None:
    preload = [f"LD_PRELOAD={PRODUCTION}"]
    kinds = [[*preload, *(f"{k}={v}" for k, v in each.items())] for each in (first, second)]
    report = tmp_path / "report.json"
    done = run(two_kinds(*kinds), ZFP, report)
    assert done.code == 0, done.errors
    differences = largest_differences(done.output)
    assert sorted(differences) == [0, 1]
    assert all(difference < 0.1 for difference in differences.values())
    if compressed is None:
        assert all(difference == 0 for difference in differences.values())
        return
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] == compressed


MPI4PY_PROGRAM = """
import numpy
from mpi4py import MPI
comm = MPI.COMM_WORLD
other = 1 - comm.rank
out = numpy.arange(1000, dtype=numpy.float32) + comm.rank
got = numpy.empty_like(out)
for _ in range(3):
    comm.Sendrecv(out, other, 0, got, other, 0)
assert (got == numpy.arange(1000) + other).all()
answer = comm.sendrecv({"data": out.tolist()}, other, 1, source=other, recvtag=1)
assert answer["data"][-1] == 999 + other
request = comm.irecv(source=other, tag=2)
comm.send("x" * 500, other, 2)
assert request.wait() == "x" * 500
print("fine")
"""


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="no mpi4py")
def test_python_programs_that_load_the_mpi_privately(tmp_path: Path) -> None:
    if "Open MPI" not in mpi4py_library():
        pytest.skip("mpi4py runs on another MPI")
    words = [sys.executable, "-c", MPI4PY_PROGRAM]
    done = mpirun(2, words, TESTING, SHRINK, tmp_path / "report.json")
    assert (done.code, done.errors) == (0, "")
    assert done.output.count("fine") == 2  # Python may write the line in two pieces
    assert done.report is not None
    assert done.report["compressed_messages"] == done.report["decoded_messages"] >= 10


def mpi4py_library() -> str:
    code = "from mpi4py import MPI; print(MPI.Get_library_version())"
    return mpirun(1, [sys.executable, "-c", code]).output


def test_report_file_that_cannot_be_written(tmp_path: Path) -> None:
    settings = {**ZFP, "THINWIRE_REPORT": str(tmp_path / "no" / "folder")}
    done = mpirun(2, [EXCHANGE], PRODUCTION, settings)
    assert done.code == 0
    (line,) = done.thinwire_lines()
    assert "cannot write" in line


def test_a_rank_that_does_not_report_leaves_the_others_their_own(tmp_path: Path) -> None:
    """No collective is entered then: rank 1 would never come."""
    report = tmp_path / "report.json"
    preload = f"LD_PRELOAD={PRODUCTION}"
    done = run(two_kinds([preload, f"THINWIRE_REPORT={report}"], [preload]), ZFP)
    assert done.code == 0, done.errors
    own = read_report(Path(f"{report}.rank0"))
    assert own["compressed_messages"] == own["decoded_messages"] == MESSAGES // 2
