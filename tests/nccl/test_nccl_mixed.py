"""Jobs of ranks of which some lack the library, or differ: results are right, and calls raw."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen

import nccl_names
import pytest
from test_nccl_shim import PROGRAMS, ROOT, SHIM, run

RANKS = 4
# All operations; sums of the program's own; random ones in groups, on communicators that are split
# off too.
JOBS = {
    "every": ("nccl_coded", "60"),
    "own sums": ("nccl_own_sums", "30", "mixed"),
    "random": ("nccl_random", "2", "600"),
}


def run_job(job: str, path: Path, *, lack: set[int], **of_rank_2: str) -> tuple[list[dict], str]:
    """The reports of the ranks that have the library, and what all of them log."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"RANKS_FILE": str(path / "id"), "THINWIRE_SAME_NODE": "1"}
    if lack and 0 not in lack:
        own["STAY"] = "1"
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": str(path / "report")}
    program, *words = JOBS[job]
    ranks = []
    for rank in range(RANKS):
        named = settings | (of_rank_2 if rank == 2 else {})
        environment = kept | own | {f"THINWIRE_{name}": value for name, value in named.items()}
        environment |= {"RANK": str(rank)} | ({} if rank in lack else {"LD_PRELOAD": str(SHIM)})
        ranks.append(
            Popen(
                [str(PROGRAMS / program), *words],
                env=environment,
                stdout=PIPE,
                stderr=PIPE,
                text=True,
            )
        )
    ends = [rank.communicate(timeout=120) for rank in ranks]
    assert [output for output, _ in ends] == ["ok\n"] * RANKS, ends
    reports = [json.loads(file.read_text()) for file in path.glob("report.nccl.rank*")]
    assert len(reports) == RANKS - len(lack)
    return reports, "".join(errors for _, errors in ends)


def expect_all_raw(reports: list[dict]) -> set[str]:
    """What is said of the communicators that all ranks are in."""
    for report in reports:
        for communicator in report["communicators"]:
            for counts in communicator["operations"].values():
                assert counts["compressed_calls"] == 0
                assert counts["wire_bytes"] == counts["bytes"]
                assert sum(counts["raw_by_reason"].values()) == counts["calls"]
    whole = [c for report in reports for c in report["communicators"] if c["ranks"] == RANKS]
    assert all(each["operations"] for each in whole[:1])
    return {each["presence"] for each in whole}


@pytest.mark.multiproc
@pytest.mark.parametrize("job", JOBS)
def test_a_rank_lacks_it(job: str, tmp_path: Path) -> None:
    reports, errors = run_job(job, tmp_path, lack={2})
    said = expect_all_raw(reports)
    assert "raw: 1 of 4 ranks lacks it, or has not come yet" in said
    # Parts of such a communicator say why their parent is raw.
    assert all(text.startswith("raw: ") for text in said)
    assert errors.count("thinwire") == errors.count("1 of 4 ranks lacks it") == 1


@pytest.mark.multiproc
def test_all_but_one_lack_it(tmp_path: Path) -> None:
    reports, errors = run_job("every", tmp_path, lack={1, 2, 3})
    assert "raw: 3 of 4 ranks lack it, or have not come yet" in expect_all_raw(reports)
    assert errors.count("thinwire") == errors.count("3 of 4 ranks lack it") == 1


@pytest.mark.multiproc
@pytest.mark.parametrize("job", JOBS)
def test_the_rank_that_makes_the_id_lacks_it(job: str, tmp_path: Path) -> None:
    reports, errors = run_job(job, tmp_path, lack={0})
    said = expect_all_raw(reports)
    assert "raw: the unique id comes from a process that lacks it, or from NCCL_COMM_ID" in said
    assert errors.count("thinwire") == errors.count("or from NCCL_COMM_ID") == 1


@pytest.mark.multiproc
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    ("setting", "value", "named"),
    [
        ("CODEC", "lorenzo", "the codec is"),
        ("THRESHOLD", "2KiB", "the threshold is"),
        ("GRAPHS", "1", "compression in graphs is"),
    ],
)
def test_a_rank_differs(job: str, setting: str, value: str, named: str, tmp_path: Path) -> None:
    reports, errors = run_job(job, tmp_path, lack=set(), **{setting: value})
    said = expect_all_raw(reports)
    assert any(text.startswith(f"raw: {named}") for text in said), said
    assert errors.count("thinwire") == errors.count(named) == 1


# Facts of NCCL that the preload library takes for granted, against the libraries: the wheels
# `nvidia-nccl-cu*` in the folder that THINWIRE_TEST_NCCL_WHEELS names. No GPU is needed.

FOLDER = os.environ.get("THINWIRE_TEST_NCCL_WHEELS")
WHEELS = sorted(Path(FOLDER).glob("nvidia_nccl_*.whl")) if FOLDER else []
ABI = ROOT / "shim" / "nccl" / "native"
TABLES = (ABI / "taken.h").read_text()
# Names of collectives, each with its twin.
COLLECTIVES = {
    name + twin for name in re.findall(r"C\((\w\w+), \w+, ", TABLES) for twin in ("", "Config")
}
MESSAGES = set(re.findall(r"M\((\w\w+)\)", TABLES))
TAKEN = {f"nccl{name}" for name in {*re.findall(r"X\((\w\w+)\)", TABLES), *COLLECTIVES, *MESSAGES}}
CUDA = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
# Definitions that headers of earlier versions lack, as later ones have them.
LATER = {
    "ncclSimInfo_t": "typedef struct { unsigned long size; unsigned magic, version; float "
    "estimatedTime; } ncclSimInfo_t;",
    "NCCL_SHRINK_ABORT": "#define NCCL_SHRINK_ABORT 1",
}


@dataclass(frozen=True)
class Nccl:
    version: tuple[int, ...]
    library: Path
    header: Path
    places: dict[str, str]  # by name

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name in self.places if name.startswith("nccl"))


@pytest.fixture(
    scope="module", params=WHEELS, ids=lambda wheel: "-".join(wheel.name.split("-")[:2])
)
def nccl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Nccl:
    folder = tmp_path_factory.mktemp("nccl")
    with zipfile.ZipFile(request.param) as wheel:
        library = wheel.extract("nvidia/nccl/lib/libnccl.so.2", folder)
        header = wheel.extract("nvidia/nccl/include/nccl.h", folder)
    said = subprocess.check_output(["nm", "-D", "--defined-only", library], text=True)
    places = {name: place for place, _, name in map(str.split, said.splitlines())}
    numbers = re.findall(r"#define NCCL_(?:MAJOR|MINOR|PATCH) (\d+)", Path(header).read_text())
    return Nccl(tuple(map(int, numbers)), Path(library), Path(header), places)


@pytest.mark.skipif(not WHEELS, reason="THINWIRE_TEST_NCCL_WHEELS names no wheels")
def test_its_functions_are_those_that_are_known(nccl: Nccl) -> None:
    """Each one is taken, or is known to go on as it is; a new one has to be looked at."""
    assert nccl_names.least(nccl.version) - nccl.names == set()
    assert nccl.names - nccl_names.most(nccl.version) == set()
    assert TAKEN - nccl_names.most(max(nccl_names.NEW_IN)) == set()


@pytest.mark.skipif(not WHEELS, reason="THINWIRE_TEST_NCCL_WHEELS names no wheels")
def test_each_has_an_inner_name_for_the_same_function(nccl: Nccl) -> None:
    """As lookups are answered by that; what is called below is found by its inner name."""
    called = set(re.findall(r"X\((\w+)\)", (ABI / "real.h").read_text())) - {"OnHostMemory"}
    called = {f"nccl{name}" for name in called | COLLECTIVES}
    assert called > TAKEN
    for name in (called | TAKEN) & nccl.names:
        assert nccl.places[f"p{name}"] == nccl.places[name], name


@pytest.mark.skipif(not WHEELS, reason="THINWIRE_TEST_NCCL_WHEELS names no wheels")
def test_its_header_agrees_with_what_is_called(nccl: Nccl, tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None or not (CUDA / "include" / "cuda_runtime.h").exists():
        pytest.skip("no compiler, or no headers of CUDA below CUDA_HOME")
    text = nccl.header.read_text()
    lines = [line for name, line in LATER.items() if name not in text]
    (tmp_path / "later.h").write_text("\n".join(lines) + "\n")
    folders = ["-I", str(ABI.parent), "-isystem", str(nccl.header.parent)]
    folders += ["-isystem", str(CUDA / "include"), "-include", str(tmp_path / "later.h")]
    source = ROOT / "tests" / "nccl" / "abi_test.cpp"
    words = [compiler, "-std=c++20", "-fsyntax-only", *folders, str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not WHEELS, reason="THINWIRE_TEST_NCCL_WHEELS names no wheels")
def test_a_program_that_looks_names_up_finds_those_that_it_has(nccl: Nccl) -> None:
    """The library itself, loaded under the preload library."""
    names = sorted(nccl_names.most(max(nccl_names.NEW_IN)))
    said, errors = run(PROGRAMS / "nccl_lookup", "names", nccl.library, *names)
    lines = [tuple(line.split(" ", 1)) for line in said.splitlines()]
    assert errors == "" and [name for name, _ in lines] == names * 3
    expected = {
        name: "none" if name not in nccl.names else SHIM.name if name in TAKEN else "libnccl.so.2"
        for name in names
    }
    # Before it is loaded; in its handle; in the program's scope, where NCCL itself is not.
    assert {where for _, where in lines[: len(names)]} == {"none"}
    assert dict(lines[len(names) : 2 * len(names)]) == expected
    local = {name: where if name in TAKEN else "none" for name, where in expected.items()}
    assert dict(lines[2 * len(names) :]) == local
