"""Yesterday's headers against today's header and library."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import cffi
import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release"))
HERE = Path(__file__).parent
TODAY = ROOT / "include"
YESTERDAYS = sorted(path.parent for path in HERE.glob("*/thinwire"))

yesterdays = pytest.mark.parametrize("folder", YESTERDAYS, ids=lambda path: path.name)


@cache
def declarations(folder: Path) -> str:
    """What the header declares, without comments."""
    text = (folder / "thinwire" / "thinwire.h").read_text()
    match = re.search(r"/\* BEGIN declarations \*/(.*)/\* END declarations \*/", text, re.S)
    assert match
    return re.sub(r"/\*.*?\*/", "", match[1], flags=re.S)


@cache
def types(folder: Path) -> dict[str, Any]:
    """The structs and enums by name, as the compiler lays them out."""
    ffi = cffi.FFI()
    ffi.cdef(declarations(folder))
    names = re.findall(r"typedef (?:struct|enum) (\w+) \{", declarations(folder))
    assert len(names) > 20
    return {name: (ffi.typeof(name), ffi) for name in names}


def fields(folder: Path, name: str) -> list[tuple[str, int, str]]:
    kind, _ = types(folder)[name]
    return [(field, what.offset, what.type.cname) for field, what in kind.fields]


def size_of(folder: Path, name: str) -> int:
    kind, ffi = types(folder)[name]
    return ffi.sizeof(kind)


def structs(folder: Path) -> list[str]:
    return [name for name, (kind, _) in types(folder).items() if kind.kind == "struct"]


def growing(folder: Path) -> list[str]:
    return [name for name in structs(folder) if fields(folder, name)[0][0] == "size"]


def functions(folder: Path) -> set[str]:
    """Every function's declaration, in one spelling."""
    text = re.sub(r"typedef (?:struct|enum) \w+ \{.*?\} \w+;", "", declarations(folder), flags=re.S)
    found = {" ".join(one.split()) for one in text.split(";")}
    return {one for one in found if "(" in one}


@yesterdays
def test_functions_and_constants_are_as_they_were(folder: Path) -> None:
    assert len(functions(folder)) > 50
    assert functions(folder) <= functions(TODAY)
    for name, (kind, _) in types(folder).items():
        if kind.kind == "enum":
            today = types(TODAY)[name][0].relements
            for constant, value in kind.relements.items():
                assert constant.endswith("_COUNT") or today[constant] == value


@yesterdays
def test_structs_grow_at_their_end_or_not_at_all(folder: Path) -> None:
    embedded = {
        what.type.cname
        for name in structs(TODAY)
        for _, what in types(TODAY)[name][0].fields
        if what.type.kind == "struct"
    }
    assert {"tw_shape", "tw_codec_cost"} <= embedded
    for name in structs(folder):
        old = fields(folder, name)
        assert fields(TODAY, name)[: len(old)] == old, name
        if name not in growing(folder) or name in embedded:
            assert size_of(TODAY, name) == size_of(folder, name), f"{name} may not grow"


@pytest.mark.parametrize("folder", [TODAY, *YESTERDAYS], ids=lambda path: path.name)
def test_no_struct_ends_in_padding(folder: Path) -> None:
    """A field that came later would lie in it, and an older program's would be read as set."""
    for name in growing(folder):
        kind, ffi = types(folder)[name]
        last = kind.fields[-1][1]
        assert last.offset + ffi.sizeof(last.type) == ffi.sizeof(kind), name
        assert ffi.sizeof(kind) % 8 == 0, name


@yesterdays
def test_a_program_of_yesterday_runs_on_the_library_of_today(folder: Path, tmp_path: Path) -> None:
    source = HERE / "old_program.c"
    unused = [name for name in growing(folder) if f"NEW({name}," not in source.read_text()]
    assert unused == ["tw_transport"], "old_program.c uses the others; that one as an array"
    library = BUILD / "src" / "capi" / "libthinwire.so.0"
    program = tmp_path / "program"
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{folder}", source, library]
    command += [f"-Wl,-rpath,{library.parent}", "-lm", "-pthread", "-o", program]
    subprocess.run(command, check=True, timeout=60)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "sound\n"), done.stderr
