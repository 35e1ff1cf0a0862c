"""The kernels are in one library, which is opened when a GPU is first used; without it all else
works, and says so once."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from outside import BUILD, ROOT, run

from thinwire.library import library_folder

KERNELS = "libthinwire_kernels.so"
CORE = "libthinwire.so.0"

# Bytes of what a wheel has in `lib`, packed, with kernels for five kinds of GPUs (for one alone, as
# `make test` compiles them, 19e6), and of one stripped library without kernels.
MOST_IN_A_WHEEL = 40e6
MOST_WITHOUT_KERNELS = 8e6

needs_kernels = pytest.mark.skipif(
    not (library_folder() / KERNELS).exists(), reason="the library has no GPU side"
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The libraries of a wheel, stripped as its own are."""
    folder = tmp_path_factory.mktemp("installed")
    run(["cmake", "--install", BUILD, "--component", "wheel", "--prefix", folder], folder)
    for path in (folder / "lib").rglob("*.so*"):
        if not path.is_symlink():
            run(["strip", path], folder)
    return folder / "lib"


def libraries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.so*") if not path.is_symlink())


def test_one_file_of_a_wheel_has_kernels(installed: Path) -> None:
    found = [
        path.name
        for path in libraries(installed)
        if ".nv_fatbin" in run(["readelf", "-SW", path], installed)
    ]
    if not found:
        pytest.skip("the library has no GPU side")
    assert found == [KERNELS]


@needs_kernels
def test_sizes(installed: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "wheel.zip"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in libraries(installed):
            packed.write(path, path.name)
            if path.name != KERNELS:
                assert path.stat().st_size < MOST_WITHOUT_KERNELS, path.name
    assert wheel.stat().st_size < MOST_IN_A_WHEEL


@needs_kernels
def test_the_others_have_nothing_of_cuda(installed: Path) -> None:
    """Neither CUDA's runtime, which has memory of each thread, nor constructors that register
    kernels when a program starts."""
    for path in libraries(installed):
        sections = run(["readelf", "-SW", path], installed)
        assert (path.name == KERNELS) == (".nvFatBinSegment" in sections), path.name


@needs_kernels
def test_nothing_of_it_runs_at_exit() -> None:
    """Programs may send while other functions run at exit."""
    asked = run(["nm", "-D", "--undefined-only", library_folder() / KERNELS], ROOT)
    assert "malloc" in asked and "atexit" not in asked


PROGRAM = """
import numpy, thinwire
from thinwire.pools import gpu_count
values = numpy.arange(100000, dtype="f4")
assert (thinwire.decompress(thinwire.compress(values, "lorenzo")) == values).all()
for attempt in range(3):
    try:
        print(gpu_count())
    except thinwire.ThinwireError as error:
        print(error)
assert (thinwire.decompress(thinwire.compress(values, "lorenzo")) == values).all()
print("libthinwire_kernels" in open("/proc/self/maps").read())
"""


def program(text: str, folder: Path) -> tuple[list[str], list[str]]:
    """What a Python program says and is warned of that takes the libraries of `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=os.environ | {"THINWIRE_LIBRARY_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr.splitlines()


@needs_kernels
def test_a_program_without_gpus_does_not_load_it() -> None:
    started = PROGRAM.replace("range(3)", "range(0)")
    assert program(started, library_folder()) == (["False"], [])


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def no_library(path: Path) -> None:
    path.write_text("#!/bin/sh\n" * 1000)


def pipe(path: Path) -> None:
    """Whoever opened it to read would wait for a writer."""
    path.unlink()
    os.mkfifo(path)


def of_another_build(path: Path) -> None:
    """As if other sources had made it."""
    data = path.read_bytes()
    at = data.index(b"Thinwire\0") + 12
    path.write_bytes(data.replace(data[at : at + 64], b"0123456789abcdef" * 4))


def without_note(path: Path) -> None:
    run(["objcopy", "--remove-section", ".note.thinwire", path], path.parent)


def other_than_its_note(path: Path) -> None:
    """The note tells this build, the table another."""
    data = path.read_bytes()
    note = data.index(b"Thinwire\0") + 12
    build = data[note : note + 64]
    rest = data[note + 64 :].replace(build, b"0123456789abcdef" * 4)
    path.write_bytes(data[: note + 64] + rest)


WRONG: list[tuple[Callable[[Path], None], str]] = [
    (Path.unlink, "No such file or directory"),
    (cut, "is damaged"),
    (empty, "is damaged"),
    (no_library, "is damaged"),
    (pipe, "is damaged"),
    (of_another_build, "is of another build of Thinwire"),
    (without_note, "is of another build of Thinwire"),
    (other_than_its_note, "has other contents than its note tells"),
]


@needs_kernels
@pytest.mark.parametrize(("spoil", "why"), WRONG, ids=[spoil.__name__ for spoil, _ in WRONG])
def test_one_that_cannot_be_used(spoil: Callable[[Path], None], why: str, tmp_path: Path) -> None:
    """GPUs are refused, with the reason; it is logged once, and the CPU's side works."""
    for name in (CORE, KERNELS):
        shutil.copy(library_folder() / name, tmp_path / name)
    spoil(tmp_path / KERNELS)
    said, warned = program(PROGRAM, tmp_path)
    assert said[0] == said[1] == said[2], said
    assert f"{tmp_path / KERNELS}" in said[0] and why in said[0]
    (line,) = warned
    assert line.startswith("thinwire: error: the GPU side cannot be used: ") and why in line
    assert said[3] == str(why.startswith("has other"))


@needs_kernels
def test_links_lead_to_it(tmp_path: Path) -> None:
    """A library that is a link finds the file beside what it leads to."""
    (tmp_path / CORE).symlink_to(library_folder() / CORE)
    said, _ = program(PROGRAM, tmp_path)
    assert said[-1] == "True"


@needs_kernels
def test_a_relative_path_holds_in_another_folder(tmp_path: Path) -> None:
    """The loader was given one, and the program has changed its folder since."""
    for name in (CORE, KERNELS):
        shutil.copy(library_folder() / name, tmp_path / name)
    text = f"""
import ctypes, os
os.chdir({str(tmp_path)!r})
core = ctypes.CDLL("./{CORE}")
os.chdir("/")
core.tw_device_count(ctypes.byref(ctypes.c_uint32()))
print("{tmp_path}/{KERNELS}" in open("/proc/self/maps").read())
"""
    assert program(text, tmp_path)[0] == ["True"]
