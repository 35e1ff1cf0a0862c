"""The `thinwire` command, as a user types it."""

import contextlib
import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import thinwire
from thinwire import dtypes
from thinwire.cli import values
from thinwire.cli.env import why_no_gpu
from thinwire.library import MPI_SHIMS, ThinwireError, library, library_folder


def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thinwire", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **variables},
        check=False,
    )


def on_terminal(*arguments: str, columns: int) -> str:
    """What the command prints on a terminal of so many columns."""
    mine, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "thinwire", *arguments],
        stdout=its,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm"},
    )
    os.close(its)
    said = b""
    with os.fdopen(mine, "rb", buffering=0) as terminal, contextlib.suppress(OSError):
        while piece := terminal.read(4096):  # fails with EIO when the command has ended
            said += piece
    assert process.wait(timeout=60) == 0
    return said.decode().replace("\r\n", "\n")


def assert_fits(said: str, columns: int) -> None:
    """Words that are longer than a line, as paths, are the terminal's to fold."""
    for line in said.splitlines():
        assert len(line) <= columns or " " not in line.strip()


def test_codecs_lists_the_registry() -> None:
    rows = json.loads(call("codecs", "--json").stdout)
    assert [row["name"] for row in rows] == [row.name for row in thinwire.codecs()]
    said = call("codecs").stdout
    assert all(row["name"] in said for row in rows)


@pytest.mark.parametrize("columns", [40, 80])
def test_codecs_says_of_each_what_it_takes_whatever_the_width(columns: int) -> None:
    said = on_terminal("codecs", columns=columns)
    assert_fits(said, columns)
    words = " ".join(said.split())
    for row in thinwire.codecs():
        assert row.summary in words and row.options in words and "…" not in said
        assert f"{row.name} " in words


@pytest.mark.parametrize("columns", [40, 80])
def test_env_on_a_terminal_cuts_nothing(columns: int) -> None:
    said = on_terminal("env", columns=columns)
    assert str(library_folder()) in said and "…" not in said
    assert_fits(said, columns)


def test_env_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(call("env", "--json", THINWIRE_LOG="error", THINWIRE_TRESHOLD="1").stdout)
    assert found["version"] == thinwire.version()
    assert {row["mpi"] for row in found["preload"]} == set(MPI_SHIMS)
    settings = {row["name"]: row for row in found["settings"]}
    assert settings["THINWIRE_LOG"]["value"] == "error"
    assert settings["THINWIRE_THRESHOLD"]["value"] is None
    assert settings["THINWIRE_THRESHOLD"]["default"] == "64KiB"
    assert "THINWIRE_THRESHOLD" in settings["THINWIRE_TRESHOLD"]["wrong"]


def test_version() -> None:
    done = call("--version")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"thinwire {thinwire.version()} ")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("thinwire ru", "run"),
        ("thinwire bench coll", "collective"),
        ("thinwire run --log de", "debug"),
        ("thinwire run --codec zf", "zfp"),
        ("thinwire run --codec zfp:", "zfp:rate=16"),
        ("thinwire bench p2p --codec sz", "szp"),
        ("thinwire shim mpi --mpi op", "openmpi"),
    ],
)
def test_the_shell_completes(line: str, offered: str) -> None:
    asked = {
        "_THINWIRE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    program = "import sys; from thinwire.cli import main; sys.argv[0] = 'thinwire'; main()"
    said = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **asked},
        check=False,
    )
    assert offered in said.stdout.splitlines()


def test_env_says_what_is_there() -> None:
    said = call("env", THINWIRE_CODEC="zfp:rate=8").stdout
    assert thinwire.version() in said
    assert "zfp:rate=8" in said


def test_env_calls_an_absent_driver_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA's words for that are those of a driver that is too old."""
    too_old = ThinwireError(library().TW_DEVICE, "too old")
    no_side = ThinwireError(library().TW_UNSUPPORTED, "no GPU side")
    monkeypatch.setattr("ctypes.CDLL", lambda name: None)
    assert [why_no_gpu(too_old), why_no_gpu(no_side)] == ["too old", "no GPU side"]

    def absent(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr("ctypes.CDLL", absent)
    assert why_no_gpu(no_side) == "no GPU side"
    assert "no NVIDIA driver" in why_no_gpu(too_old)


def test_files_round_trip(tmp_path: Path) -> None:
    data = np.sin(0.01 * np.arange(50000)).astype(np.float32)
    source, frame, back = (tmp_path / name for name in ("data.f32", "data.tw", "back.f32"))
    data.tofile(source)
    encoded = call("encode", "--codec", "zfp:rate=16", str(source), str(frame))
    assert encoded.returncode == 0 and "ratio 1.99" in encoded.stderr
    assert call("inspect", str(frame)).stdout.startswith("zfp:rate=16 f32 50000: 200000 bytes")
    assert call("decode", str(frame), str(back)).returncode == 0
    np.testing.assert_allclose(np.fromfile(back, np.float32), data, atol=1e-3)


def test_a_pipe_is_encoded(tmp_path: Path) -> None:
    data = np.arange(5000, dtype=np.float32)
    pipe, frame = tmp_path / "pipe", tmp_path / "frame"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data.tobytes()))
    writer.start()
    encoded = call("encode", "--codec", "mpc", "--dtype", "f32", str(pipe), str(frame))
    writer.join()
    assert encoded.returncode == 0, encoded.stderr
    assert (thinwire.decompress(frame.read_bytes()) == data).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["encode", "--codec", "zpf:rate=1", "{data}", "{out}"], "no codec named 'zpf'"),
        (["encode", "--codec", "zfp:rate=16", "{odd}", "{out}"], "whole number of f32"),
        (["encode", "--codec", "mpc", "--dtype", "f64", "{npy}", "{out}"], "it holds f32, not f64"),
        (["advise", "--link", "1gbit", "{npy}:b"], "it has no array of that name"),
        (["encode", "--codec", "zfp:rate=16", "{dat}", "{out}"], "element type"),
        (["decode", "{data}", "{out}"], "not a frame"),
        (["run", "--codec", "nonsense", "--", "true"], "no codec named 'nonsense'"),
        (["run", "--threshold", "many", "--", "true"], "not a size"),
        (["run", "--link", "fast", "--", "true"], "not a link rate"),
        (["run", "--", "/no/such/program"], "no program"),
        (["run"], "no command given"),
        (["advise", "--link", "fast", "{data}"], "not a link rate"),
        (["advise", "--link", "1gbit", "{dat}"], "pass --dtype"),
        (["advise", "--link", "1gbit", "--dtype", "f8", "{data}"], "'f32', 'f64', 'f16', 'bf16'"),
        (["run", "--mpi", "lam", "--", "true"], "'openmpi', 'mpich', 'abi'"),
        (["bench", "p2p", "--memory", "disk"], "'host', 'device'"),
        (["bench", "p2p", "--link", "fast"], "not a rate such as"),
        (["bench", "codec", "--size", "1MiB,many"], "not a size"),
        (["bench", "overhead", "--codec", "zpf"], "no codec named 'zpf'"),
        (["bench", "raw", "--setting", "odd"], "'prepared', 'default', 'guarded', 'none'"),
        (["demo", "--device", "tpu"], "'auto', 'cpu', 'gpu'"),
        (["lab", "run", "--link", "fast", "--", "true"], "not a rate such as"),
        (["shim", "pigeon"], "'pigeon' is not one of 'mpi'"),
    ],
)
def test_mistakes_end_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    names = {"data": "data.f32", "odd": "odd.f32", "dat": "some.dat", "npy": "a.npy", "out": "out"}
    paths = {key: str(tmp_path / name) for key, name in names.items()}
    Path(paths["data"]).write_bytes(bytes(400))
    Path(paths["odd"]).write_bytes(bytes(401))
    Path(paths["dat"]).write_bytes(bytes(400))
    np.save(paths["npy"], np.ones(100, np.float32))
    result = call(*[argument.format(**paths) for argument in arguments], COLUMNS="200")
    assert result.returncode != 0
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_shim_names_an_existing_library() -> None:
    result = call("shim", "mpi")
    if result.returncode != 0:
        pytest.skip(result.stderr.strip())
    assert Path(result.stdout.strip()).is_file()


@pytest.mark.parametrize(
    ("options", "variables", "codec"),
    [
        ([], {}, "auto"),
        ([], {"THINWIRE_CODEC": "zfp:rate=8"}, "zfp:rate=8"),
        (["--codec", "mpc"], {"THINWIRE_CODEC": "zfp:rate=8"}, "mpc:stride=1"),
    ],
)
def test_exec_takes_the_option_then_the_environment(
    options: list[str], variables: dict[str, str], codec: str
) -> None:
    rank = {"OMPI_COMM_WORLD_RANK": "0", **variables}
    result = call("exec", *options, "--", "printenv", "THINWIRE_CODEC", **rank)
    if "does not exist" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.stdout.strip() == codec


# A frame's header alone, of codec nvcomp-lz4 and no values (spec/frame.md).
FOREIGN = (
    "7477206672616d6566696c65001a0d0a000b00010101000000000000"
    "000000000e000000000000000000000000000000f623f05cd6d25ba9"
)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A library in nvCOMP's place that leaves a mark where it is loaded."""
    source = f"""#include <stdio.h>
    __attribute__((constructor)) static void mark(void) {{
      FILE* file = fopen("{tmp_path}/loaded", "w");
      if (file) fclose(file);
    }}"""
    (tmp_path / "planted.c").write_text(source)
    library = tmp_path / "planted.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "planted.c"], check=True)
    return library


def test_a_frame_does_not_say_what_is_loaded(tmp_path: Path, planted: Path) -> None:
    frame, back = tmp_path / "frame.tw", tmp_path / "back.f32"
    frame.write_bytes(bytes.fromhex(FOREIGN))
    settings = {"THINWIRE_NVCOMP": str(planted)}
    assert call("inspect", str(frame), **settings).stdout.startswith("nvcomp-lz4 f32 0")
    done = call("decode", str(frame), str(back), **settings)
    assert done.returncode != 0 and "THINWIRE_DECODE=nvcomp-lz4" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "loaded").exists() and not back.exists()
    # Who names it gets as far as what is not there.
    for named, variables in (
        (["--allow", "nvcomp-lz4"], {}),
        ([], {"THINWIRE_DECODE": "nvcomp-ans,nvcomp-lz4"}),
        ([], {"THINWIRE_CODEC": "nvcomp-lz4"}),
    ):
        done = call("decode", str(frame), str(back), *named, **settings, **variables)
        assert done.returncode != 0 and "THINWIRE_DECODE" not in done.stderr
    done = call("decode", str(frame), str(back), "--allow", "magic", **settings)
    assert done.returncode != 0 and "magic" in done.stderr


def test_options_name_what_the_library_names() -> None:
    assert set(values.Dtype) == set(dtypes.CODES)
    assert set(values.Mpi) == set(MPI_SHIMS)
