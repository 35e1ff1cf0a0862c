"""Every command where its surroundings are poor: nobody reads what it prints, its folder is gone,
the folder for temporary files is full, the terminal is narrow. None ends in a traceback."""

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from made_traces import write_job

import thinwire
from thinwire.cli import command_line

pytestmark = pytest.mark.multiproc

# Words that each command is called with, from a folder with those files; the shortest that it does.
WORDS = {
    "env": "",
    "codecs": "",
    "run": "-- true",
    "exec": "-- true",
    "capture": "-o sample -- true",
    "doctor": "-- true",
    "shim": "mpi",
    "encode": "own.f32 new.tw --codec mpc",
    "decode": "own.tw new.f32",
    "inspect": "own.tw",
    "advise": "own.f32 --link 1gbit",
    "report": "job",
    "explain": "--bytes 1MiB --link 1gbit",
    "simulate": "--codec mpc --ratio 2 --encode 1GB/s --link 1gbit --nodes 2 --no-search",
    "reproduce": "naive",
    "tune": "--show",
    "demo": "--quick --output-dir own.tw/none",
    "lab run": "-- true",
    "lab up": "--name surroundings",
    "lab set-link": "1gbit --name surroundings",
    "lab status": "",
    "lab down": "--name surroundings",
    "bench codec": "--codec mpc --size 64KiB --runs 1 --no-sums",
    "bench ratio": "--write --file own.tw/none",
    "bench raw": "--loopback --sizes 64KiB --pairs 2",
    "bench collective": "--loopback --ranks 2 --op bcast --size 64KiB --iterations 1",
    "bench nccl": "--loopback --ranks 2 --size nothing",
    "bench p2p": "--loopback --sizes 64KiB --iterations 1 --rounds 1",
    "bench overhead": "--alternations 1 --batches 2",
    "policy check": "policy.toml",
    "policy explain": "policy.toml --op send --dtype f32 --size 1MiB",
}
# 126: the program could not be started.
ENDINGS = (0, 1, 2, 69, 70, 126)


def each(test: Callable[..., None]) -> Callable[..., None]:
    """A test of every command: 110 of them take a minute."""
    return pytest.mark.slow(pytest.mark.parametrize("name", WORDS)(test))


def _leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(path)
        return
    for name, inner in below.items():
        yield from _leaves(inner, (*path, name))


def test_all_commands_are_tried() -> None:
    assert set(WORDS) == set(_leaves(typer.main.get_command(command_line())))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    values = np.sin(0.01 * np.arange(20_000)).astype(np.float32)
    values.tofile(tmp_path / "own.f32")
    (tmp_path / "own.tw").write_bytes(thinwire.compress(values, "mpc"))
    (tmp_path / "policy.toml").write_text("[[rule]]\ncodec = 'mpc'\n")
    write_job(tmp_path, 2, 2)
    yield tmp_path
    subprocess.run(
        [sys.executable, "-m", "thinwire", "lab", "down", "--name", "surroundings"],
        capture_output=True,
        check=False,
    )


def start(name: str, folder: Path, **how: Any) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "thinwire", *name.split(), *WORDS[name].split()]
    variables = how.pop("variables", {})
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **variables}
    return subprocess.Popen(
        words, **{"cwd": folder, "stderr": subprocess.PIPE, "env": environment, **how}
    )


def end(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    _, errors = process.communicate(timeout=120)
    said = errors.decode(errors="replace")
    assert "Traceback" not in said and "Exception ignored" not in said, said
    return process.returncode, said


@each
def test_nobody_reads_what_it_prints(folder: Path, name: str) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    process = start(name, folder, stdout=writes)
    os.close(writes)
    code, said = end(process)
    assert code in ENDINGS, (code, said)
    assert "Broken pipe" not in said


@each
def test_its_folder_is_gone(folder: Path, name: str) -> None:
    gone = folder / "gone"
    gone.mkdir()
    process = start(
        name, folder, cwd=gone, preexec_fn=lambda: gone.rmdir(), stdout=subprocess.DEVNULL
    )
    code, said = end(process)
    assert code in ENDINGS, (code, said)
    assert code == 0 or said.strip(), "it says nothing"


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder where there is no room for anything."""
    place = tmp_path / "full"
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(mounted).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with (place / "filling").open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
    except OSError:
        pass
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@each
def test_the_folder_for_temporary_files_is_full(folder: Path, full: Path, name: str) -> None:
    process = start(name, folder, variables={"TMPDIR": str(full)}, stdout=subprocess.DEVNULL)
    code, said = end(process)
    assert code in ENDINGS, (code, said)
    assert code == 0 or said.strip(), "it says nothing"


@each
def test_the_terminal_is_narrow(folder: Path, name: str) -> None:
    mine, its = pty.openpty()
    process = start(
        name, folder, stdout=its, stderr=subprocess.DEVNULL,
        variables={"COLUMNS": "40", "TERM": "xterm"},
    )  # fmt: skip
    os.close(its)
    said = b""
    with os.fdopen(mine, "rb", buffering=0) as terminal:
        try:
            while piece := terminal.read(4096):
                said += piece
        except OSError:
            pass  # the command has ended
    process.wait(timeout=120)
    for line in re.sub(r"\x1b\[[0-9;]*m", "", said.decode()).replace("\r\n", "\n").splitlines():
        # Words that are longer than a line, as paths, are the terminal's to fold, and so is the one
        # line a file that other programs read.
        if name == "inspect":
            continue
        assert len(line) <= 40 or " " not in line.strip(), line
