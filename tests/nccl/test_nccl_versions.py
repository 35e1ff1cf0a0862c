"""What the preload library takes for granted of NCCL, against the libraries themselves: the wheels
`nvidia-nccl-cu*` in the folder that THINWIRE_TEST_NCCL_WHEELS names. No GPU is needed."""

import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import nccl_names
import pytest
from test_nccl_shim import PROGRAMS, ROOT, SHIM, run

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

pytestmark = pytest.mark.skipif(not WHEELS, reason="THINWIRE_TEST_NCCL_WHEELS names no wheels")


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


def test_its_functions_are_those_that_are_known(nccl: Nccl) -> None:
    """Each one is taken, or is known to go on as it is; a new one has to be looked at."""
    assert nccl_names.least(nccl.version) - nccl.names == set()
    assert nccl.names - nccl_names.most(nccl.version) == set()
    assert TAKEN - nccl_names.most(max(nccl_names.NEW_IN)) == set()


def test_each_has_an_inner_name_for_the_same_function(nccl: Nccl) -> None:
    """As lookups are answered by that; what is called below is found by its inner name."""
    called = set(re.findall(r"X\((\w+)\)", (ABI / "real.h").read_text())) - {"OnHostMemory"}
    called = {f"nccl{name}" for name in called | COLLECTIVES}
    assert called > TAKEN
    for name in (called | TAKEN) & nccl.names:
        assert nccl.places[f"p{name}"] == nccl.places[name], name


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
