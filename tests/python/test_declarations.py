"""Declarations of the C library: made beforehand, or read from another header."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import cffi
import pytest

from thinwire import declared
from thinwire.declarations import ffi_of, of_header
from thinwire.library import library_folder

ROOT = Path(__file__).parents[2]
HEADER = (ROOT / "include" / "thinwire" / "thinwire.h").read_text()


def test_the_made_ones_are_of_this_header() -> None:
    tool = [sys.executable, ROOT / "tools" / "declarations", "--check"]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ffi_of(of_header(HEADER))[0] is declared.ffi


def test_the_made_ones_are_what_cffi_reads() -> None:
    read = cffi.FFI()
    read.cdef(of_header(HEADER))
    assert declared.ffi.list_types() == read.list_types()
    for name in read.list_types()[0]:
        if read.typeof(name).kind != "function":
            assert declared.ffi.typeof(name).kind == read.typeof(name).kind
        if read.typeof(name).kind == "struct" and read.typeof(name).fields:
            assert declared.ffi.sizeof(name) == read.sizeof(name)
            fields = [(field, each.offset) for field, each in read.typeof(name).fields]
            made = [(field, each.offset) for field, each in declared.ffi.typeof(name).fields]
            assert made == fields


def test_another_header_is_read() -> None:
    changed = HEADER.replace("/* END declarations */", "int tw_more(void);\n/* END declarations */")
    ffi, mark = ffi_of(of_header(changed))
    assert ffi is not declared.ffi and mark != declared.MARK
    assert ffi.sizeof("tw_shape") == declared.ffi.sizeof("tw_shape")


def run(program: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-c", program]
    return subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


def test_a_command_reads_no_header_by_pycparser() -> None:
    program = "import sys; from thinwire.library import version; version(); print(*sys.modules)"
    done = run(program)
    assert done.returncode == 0, done.stderr
    assert "thinwire.declared" in done.stdout.split()
    assert not {"cffi", "pycparser"} & set(done.stdout.split())


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """An installation whose header declares more."""
    shutil.copytree(library_folder(), tmp_path / "lib", symlinks=True)
    folder = tmp_path / "include" / "thinwire"
    folder.mkdir(parents=True)
    more = "uint32_t tw_format_version_again(void);\n/* END declarations */"
    (folder / "thinwire.h").write_text(HEADER.replace("/* END declarations */", more))
    return tmp_path / "lib"


def test_an_installation_of_another_header_goes_by_it(other: Path) -> None:
    program = (
        "import sys; from thinwire.library import version; print(version(), 'cffi' in sys.modules)"
    )
    done = run(program, THINWIRE_LIBRARY_DIR=str(other))
    assert re.fullmatch(r"\d+\.\d+\.\d+ True\n", done.stdout), done.stderr


def test_an_installation_that_changes_after_the_import_is_an_error(other: Path) -> None:
    program = f"""if True:
        import os
        from thinwire.library import version
        os.environ["THINWIRE_LIBRARY_DIR"] = {str(other)!r}
        version()"""
    done = run(program)
    assert done.returncode == 1
    assert "THINWIRE_LIBRARY_DIR names another thinwire.h than at the import" in done.stderr
