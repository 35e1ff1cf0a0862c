"""The library with messages in GPU memory, over memory that only a fake device layer can touch.

The conformance program's arrays lie there: an MPI, or a line of the library, that touched one by
its address would end the program.
"""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mpis import OTHERS, SYSTEM, Mpi
from shim_runs import MPIRUN, PROGRAMS, SHRINK, ZFP, Run, mpirun, run
from test_shim_collectives import LOSSLESS, SAME, WORST_LOSS, expect_same
from test_shim_conformance import CASES, LINES_EXPECTED, RANKS, families

pytestmark = pytest.mark.multiproc

FAKE = SYSTEM.fake_device
PROGRAM = PROGRAMS / "shim_conformance_device"
ERRORS = PROGRAMS / "shim_device_errors"

AWARE = {"THINWIRE_GPU_AWARE": "1", "FAKE_DEVICE_REACHABLE": "1"}

# An MPI that takes GPU pointers gets frames there too, or through pinned memory.
CONFIGURATIONS = {
    "compressed": SHRINK,
    "mixed": {**SHRINK, "CONFORMANCE_MEMORY": "mixed"},
    "raw": {**ZFP, "THINWIRE_THRESHOLD": "1GiB"},
    "off": {"THINWIRE_CODEC": "off"},
    "aware": {**SHRINK, **AWARE},
    "aware-pinned": {**SHRINK, **AWARE, "THINWIRE_GPU_WIRE": "pinned"},
}


@cache
def run_family(configuration: str, family: str) -> Run:
    with TemporaryDirectory() as folder:
        settings, report = CONFIGURATIONS[configuration], Path(folder, "report.json")
        return mpirun(RANKS[family], [PROGRAM, family], FAKE, settings, report)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize(
    ("family", "case"), [(family, case) for family, _, case in CASES[SYSTEM.name]]
)
def test_case(configuration: str, family: str, case: str) -> None:
    done = run_family(configuration, family)
    verdicts = [line for line in done.output.splitlines() if line.endswith(f" {case}")]
    assert f"PASS {case}" in verdicts, done.output + done.errors


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("family", families(SYSTEM))
def test_run_ends_well_and_silently(configuration: str, family: str) -> None:
    done = run_family(configuration, family)
    assert done.code == 0, done.errors
    lines = done.errors.splitlines()
    compresses = configuration not in ("raw", "off")
    if configuration == "raw":  # a high threshold: families of many small messages say so
        lines = [line for line in lines if "nothing was compressed: " not in line]
    if compresses and ("shrink", family) in LINES_EXPECTED:
        assert len(lines) == 1 and LINES_EXPECTED["shrink", family] in lines[0]
    else:
        assert lines == []


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("family", families(SYSTEM))
def test_what_was_staged_is_counted(configuration: str, family: str) -> None:
    report = run_family(configuration, family).report
    assert report is not None
    assert report["device_messages"] > 0
    assert report["device_failures"] == report["damaged_messages"] == 0
    if configuration in ("raw", "off"):
        assert report["compressed_messages"] == 0 < report["staged_messages"]
    else:
        assert report["compressed_messages"] > 0
    # An MPI that takes GPU pointers writes to the program's memory itself.
    if configuration.startswith("aware") and family == "receives":
        assert report["receives_in_place"] > 0
    if family != "truncation":
        assert report["decoded_messages"] == report["compressed_messages"]


@pytest.mark.parametrize("codec", ["off", "zfp:rate=16"])
@pytest.mark.parametrize("family", ["collectives", "intercommunicators"])
def test_blocking_collectives_that_are_begun_and_waited_for(family: str, codec: str) -> None:
    settings = {"THINWIRE_CODEC": codec, "FAKE_DEVICE_STARTED": "1"}
    done = mpirun(RANKS[family], [PROGRAM, family], FAKE, settings)
    assert done.code == 0, done.output + done.errors
    assert "PASS" in done.output and "FAIL" not in done.output, done.output


def faulty(fault: str, report: Path | None = None, **settings: str) -> Run:
    wanted = {**SHRINK, **settings, "FAKE_DEVICE_FAULT": fault}
    return mpirun(2, [ERRORS, "messages"], FAKE, wanted, report)


@pytest.mark.parametrize("fault", ["encode", "decode", "device", "start"])
def test_a_gpu_that_refuses_its_part_costs_time_only(fault: str, tmp_path: Path) -> None:
    """Raw instead of compressed, the CPU's decoder, a plain copy: the data arrives."""
    done = faulty(fault, tmp_path / "report.json")
    assert done.code == 0, done.errors
    assert done.output.count("send 0 receive 0 data right") == 2, done.output
    assert done.report is not None
    told = ["nothing was compressed: " in line for line in done.errors.splitlines()]
    assert told == ([True] if done.report["compressed_messages"] == 0 else []), done.errors
    assert (done.report["device_failures"] > 0) == (fault != "start")


@pytest.mark.parametrize(
    ("fault", "error", "sentence"),
    [
        ("pinned", "MPI_ERR_NO_MEM", "pinned memory"),
        ("copy", "MPI_ERR_OTHER", "cannot copy a message from GPU memory: copy"),
        ("place", "MPI_ERR_BUFFER", "cannot reach a message's GPU memory: place"),
    ],
)
def test_a_lost_gpu_is_an_error_and_a_sentence(fault: str, error: str, sentence: str) -> None:
    done = mpirun(2, [ERRORS, "lost"], FAKE, {"THINWIRE_CODEC": "off", "FAKE_DEVICE_FAULT": fault})
    assert done.code == 0, done.errors
    assert done.output.count(f"send {error}") == 2, done.output
    assert done.output.count(f"receive {error}") == 2, done.output
    assert sum(sentence in line for line in done.thinwire_lines()) >= 2, done.errors


def test_calls_that_take_no_gpu_memory_say_so(tmp_path: Path) -> None:
    done = mpirun(1, [ERRORS, "refused", tmp_path / "file"], FAKE, {"THINWIRE_CODEC": "off"})
    assert done.code == 0, done.errors
    *refused, allowed = done.output.splitlines()
    assert allowed == "MPI_File_write of host memory MPI_SUCCESS"
    assert len(refused) == 8
    assert all(line.endswith(" MPI_ERR_BUFFER") for line in refused), done.output
    for line in refused:
        sentence = f"GPU memory in {line.split()[0]} needs a GPU-aware MPI"
        assert sum(sentence in said for said in done.thinwire_lines()) == 1, done.errors


def test_a_rank_without_memory_holds_nobody_up() -> None:
    """Its part of a compressed collective fails with a sentence, and the next one is sound."""
    program = [f"LD_PRELOAD={FAKE}", str(ERRORS), "unable"]
    words = ["-n", "1", "env", *program]
    unable = ["-n", "1", "env", "FAKE_DEVICE_FAULT=device", *program]
    done = run([*MPIRUN, *words, ":", *unable, ":", *words], LOSSLESS)
    assert done.code == 0, done.output + done.errors
    lines = sorted(done.output.splitlines())
    assert [line.endswith("then right") for line in lines] == [True] * 3, done.output
    assert "MPI_Bcast MPI_ERR_NO_MEM MPI_Allgather MPI_ERR_NO_MEM" in lines[1]
    assert sum("no memory for the elements" in line for line in done.thinwire_lines()) == 2


@pytest.mark.parametrize(
    ("fault", "error", "sentence", "lines"),
    [
        ("none", "MPI_SUCCESS", "", 0),
        ("pinned", "MPI_ERR_NO_MEM", "no pinned memory for a collective", 4),
        ("copy", "MPI_ERR_OTHER", "cannot copy between GPU memory and the MPI: copy", 6),
    ],
)
def test_a_native_collective_that_cannot_be_staged_says_so(
    fault: str, error: str, sentence: str, lines: int
) -> None:
    """A line a call, or for copies that fail a line a block."""
    settings = {"THINWIRE_CODEC": "off", "FAKE_DEVICE_FAULT": fault}
    done = mpirun(2, [ERRORS, "natives"], FAKE, settings)
    assert done.code == 0, done.errors
    assert done.output.splitlines() == [f"MPI_Allgather {error} MPI_Alltoallw {error}"] * 2
    said = done.thinwire_lines()
    assert len(said) == lines, done.errors
    assert all(sentence in line for line in said), done.errors


@pytest.mark.parametrize(
    ("fault", "errors", "sentence"),
    [
        ("none", ["MPI_SUCCESS", "MPI_SUCCESS", "MPI_SUCCESS"], ""),
        ("pinned", ["MPI_ERR_NO_MEM", "MPI_ERR_NO_MEM", "MPI_SUCCESS"], "no pinned memory"),
        ("copy", ["MPI_ERR_OTHER", "MPI_SUCCESS", "MPI_ERR_OTHER"], "GPU memory and the MPI: copy"),
    ],
)
def test_a_started_collective_that_cannot_be_staged_says_so(
    fault: str, errors: list[str], sentence: str
) -> None:
    """A lack of memory at the start; a copy that fails before the start or after the completion."""
    settings = {"THINWIRE_CODEC": "off", "FAKE_DEVICE_FAULT": fault}
    done = mpirun(2, [ERRORS, "started"], FAKE, settings)
    assert done.code == 0, done.errors
    gathered, begun, waited = errors
    assert sorted(done.output.splitlines()) == [
        f"rank 0: MPI_Iallgather {gathered} MPI_Ibcast MPI_SUCCESS MPI_Wait MPI_SUCCESS",
        f"rank 1: MPI_Iallgather {gathered} MPI_Ibcast {begun} MPI_Wait {waited}",
    ]
    said = done.thinwire_lines()
    assert bool(said) == (fault != "none")
    assert all(sentence in line for line in said), done.errors


# Compressed, native through pinned memory, for want of a codec or of a gain by it, or by an MPI
# that takes GPU pointers.
STARTED = {
    "compressed": {**LOSSLESS},
    "native": {**LOSSLESS, "THINWIRE_CODEC": "off"},
    "no gain": {**LOSSLESS, "THINWIRE_LINK": "100000gbit"},
    "aware": {"THINWIRE_CODEC": "off", **AWARE},
}


@pytest.mark.parametrize("memory", ["device", "mixed"])
@pytest.mark.parametrize("way", STARTED)
@pytest.mark.parametrize("words", [[], ["late"], ["serialized"]], ids=" ".join)
def test_nonblocking_collectives(words: list[str], way: str, memory: str, tmp_path: Path) -> None:
    settings = {**STARTED[way], "COLL_MEMORY": memory}
    program = [PROGRAMS / "shim_coll_nonblocking_device", *words]
    done = mpirun(3, program, FAKE, settings, tmp_path / "report", timeout=100)
    done.all_right(3)
    assert done.report is not None and done.report["device_failures"] == 0
    assert (done.report["collectives"]["compressed"] > 0) == (way == "compressed")


@pytest.mark.parametrize("memory", ["device", "mixed"])
@pytest.mark.parametrize("way", STARTED)
@pytest.mark.parametrize("mpi", [m for m in OTHERS if m.abi == "openmpi"], ids=lambda mpi: mpi.name)
def test_persistent_collectives(mpi: Mpi, way: str, memory: str, tmp_path: Path) -> None:
    settings = {**STARTED[way], "COLL_MEMORY": memory}
    program = [mpi.programs / "shim_coll_persistent_device", "keep"]
    done = mpirun(3, program, mpi.fake_device, settings, tmp_path / "report", timeout=100, mpi=mpi)
    done.all_right(3)
    assert done.report is not None and done.report["device_failures"] == 0
    assert (done.report["collectives"]["compressed"] > 0) == (way == "compressed")


def programs_of_same() -> list[tuple[Mpi, Path]]:
    name = "shim_coll_same_device"
    handles_alike = [mpi for mpi in (SYSTEM, *OTHERS) if mpi.abi == "openmpi"]
    return [(mpi, mpi.programs / name) for mpi in handles_alike]


@pytest.mark.parametrize("memory", ["device", "mixed"])
@pytest.mark.parametrize("kind", SAME)
@pytest.mark.parametrize(("mpi", "program"), programs_of_same(), ids=lambda each: each.name)
def test_ranks_that_get_the_same_have_the_same_bits(
    mpi: Mpi, program: Path, kind: str, memory: str, tmp_path: Path
) -> None:
    expect_same(kind, program, mpi.fake_device, mpi, tmp_path / "report", {"COLL_MEMORY": memory})


# Compressed, or native through pinned memory; buffers of all ranks, or of every second one;
# blocking, or begun and waited for.
@pytest.mark.parametrize("started", [False, True], ids=["blocking", "started"])
@pytest.mark.parametrize("memory", ["device", "mixed"])
@pytest.mark.parametrize("codec", ["mpc", "zfp:rate=16", "off"])
def test_collectives(codec: str, memory: str, started: bool, tmp_path: Path) -> None:
    settings = {**LOSSLESS, "THINWIRE_CODEC": codec, "COLL_MEMORY": memory}
    if started:
        settings["FAKE_DEVICE_STARTED"] = "1"
    words = {"mpc": [], "zfp:rate=16": [WORST_LOSS], "off": []}[codec]
    done = mpirun(
        3, [PROGRAMS / "shim_coll_device", *words], FAKE, settings, tmp_path / "report", timeout=150
    )
    done.all_right(3)
    assert done.report is not None and done.report["device_failures"] == 0
    # The program asks for one thread: none that is begun enters.
    entered = done.report["collectives"]["compressed"]
    assert entered == 0 if codec == "off" or started else entered > 500
