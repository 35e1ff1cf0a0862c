"""Commands that take arrays of files: from files and pipes, to frames and back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thinwire

VALUES = np.cumsum(np.random.default_rng(1).standard_normal((4, 64, 64)), axis=2).astype("f4")


def call(*words: str | Path, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "thinwire", *map(str, words)],
        input=given,
        capture_output=True,
        timeout=60,
        env={**os.environ, "COLUMNS": "400"},
        check=False,
    )


def encode(*words: str | Path, given: bytes | None = None) -> bytes:
    """A frame, of standard output."""
    done = call("encode", "--codec", "lorenzo", *words, "-", given=given)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_encode_codes_in_the_shape_of_the_file(tmp_path: Path) -> None:
    wanted = thinwire.compress(VALUES, "lorenzo")
    assert wanted != thinwire.compress(VALUES.reshape(-1), "lorenzo")
    np.save(tmp_path / "a.npy", np.asfortranarray(VALUES.astype(">f4")))
    np.savez_compressed(tmp_path / "a.npz", x=VALUES, y=VALUES[0])
    assert encode(tmp_path / "a.npy") == wanted
    assert encode(f"{tmp_path}/a.npz:x") == wanted
    # A shape in the spec comes first, as in Python.
    frame = tmp_path / "a.tw"
    assert (
        call("encode", "--codec", "lorenzo:shape=16x1024", tmp_path / "a.npy", frame).returncode
        == 0
    )
    assert thinwire.inspect(frame.read_bytes()).shape == (16, 1024)


def test_encode_takes_variables_of_hdf5_and_netcdf(tmp_path: Path) -> None:
    h5py, netcdf = pytest.importorskip("h5py"), pytest.importorskip("netCDF4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["g/x"] = VALUES
    with netcdf.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_CLASSIC") as file:
        for axis, extent in enumerate(VALUES.shape):
            file.createDimension(f"d{axis}", extent)
        file.createVariable("v", "f4", ("d0", "d1", "d2"))[:] = VALUES
    wanted = thinwire.compress(VALUES, "lorenzo")
    assert encode(f"{tmp_path}/a.h5:/g/x") == wanted
    assert encode(f"{tmp_path}/a.nc:v") == wanted
    assert encode("/dev/stdin:/g/x", given=(tmp_path / "a.h5").read_bytes()) == wanted
    assert encode("/dev/stdin:v", given=(tmp_path / "a.nc").read_bytes()) == wanted


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_encode_reads_pipes(tmp_path: Path, name: str) -> None:
    np.save(tmp_path / "a.npy", VALUES)
    np.savez(tmp_path / "a.npz", x=VALUES, y=VALUES)
    wanted = thinwire.compress(VALUES, "lorenzo")
    assert encode(name, given=(tmp_path / "a.npy").read_bytes()) == wanted
    assert encode("/dev/stdin:y", given=(tmp_path / "a.npz").read_bytes()) == wanted
    line = thinwire.compress(VALUES.reshape(-1), "lorenzo")
    assert encode(name, "--dtype", "f32", given=VALUES.tobytes()) == line
    done = call("encode", "--codec", "mpc", name, "-", given=VALUES.tobytes())
    assert done.returncode == 2 and b"element type: pass --dtype" in done.stderr and not done.stdout


def test_encode_reads_a_process_substitution(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VALUES)
    line = f"{sys.executable} -m thinwire encode --codec lorenzo <(cat {tmp_path}/a.npy) -"
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, check=True)
    assert done.stdout == thinwire.compress(VALUES, "lorenzo")


def test_decode_writes_npy_with_the_shape(tmp_path: Path) -> None:
    frame = thinwire.compress(VALUES, "mpc")
    assert call("decode", "-", tmp_path / "back.npy", given=frame).returncode == 0
    back = np.load(tmp_path / "back.npy")
    assert back.dtype == "f4" and np.array_equal(back, VALUES)
    assert call("decode", "-", "-", given=frame).stdout == VALUES.tobytes()
    words = np.arange(6, dtype="u2").reshape(2, 3)
    np.save(tmp_path / "words.npy", words)
    assert (
        call(
            "encode",
            "--codec",
            "expack",
            "--dtype",
            "bf16",
            tmp_path / "words.npy",
            tmp_path / "w.tw",
        ).returncode
        == 0
    )
    assert call("decode", tmp_path / "w.tw", tmp_path / "back.npy").returncode == 0
    assert np.array_equal(np.load(tmp_path / "back.npy"), words)


def test_inspect_says_what_a_file_has(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=VALUES, y=np.arange(3))
    said = "x f32 4x64x64\ny int64 3\n"
    assert call("inspect", tmp_path / "a.npz").stdout.decode() == said
    assert call("inspect", "-", given=(tmp_path / "a.npz").read_bytes()).stdout.decode() == said
    frame = thinwire.compress(VALUES, "mpc")
    assert call("inspect", "-", given=frame).stdout.startswith(b"mpc:stride=1 f32 4x64x64: ")
    (tmp_path / "named.nc").write_bytes(frame)
    assert call("inspect", tmp_path / "named.nc").stdout.startswith(b"mpc:stride=1 f32 4x64x64: ")
    done = call("inspect", "-", given=VALUES.tobytes())
    assert done.returncode == 1 and b"not a frame" in done.stderr


def test_a_frame_is_not_taken_for_values(tmp_path: Path) -> None:
    (tmp_path / "a.f32").write_bytes(thinwire.compress(VALUES, "mpc"))
    done = call("encode", "--codec", "mpc", tmp_path / "a.f32", "-")
    assert done.returncode == 2 and b"no raw values, but a frame: decode it" in done.stderr
    done = call("encode", "--dtype", "bytes", "--codec", "lossless", tmp_path / "a.f32", "-")
    assert done.returncode == 0


def test_closed_and_broken_streams_end_in_one_line(tmp_path: Path) -> None:
    frame = tmp_path / "a.tw"
    frame.write_bytes(thinwire.compress(np.ones(1 << 20, "f4"), "mpc"))
    for line in (f"decode {frame} - >&-", f"decode {frame} - | true", "decode - x.f32 <&-"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m thinwire {line}"],
            capture_output=True,
            timeout=60,
            cwd=tmp_path,
        )
        said = [] if "|" in line else [b"thinwire: error: "]
        assert [each[:17] for each in done.stderr.splitlines()] == said
    assert not (tmp_path / "x.f32").exists()


def test_advise_takes_the_shape_of_the_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=VALUES.astype(">f4"), y=VALUES)
    words = ("advise", "--link", "1gbit", "--device", "cpu", "--json")
    said = json.loads(call(*words, f"{tmp_path}/a.npz:x").stdout)
    assert (said["file"], said["dtype"], said["shape"]) == ("a.npz:x", "f32", "4x64x64")
    assert "4x64x64" in {each["shape"] for each in said["candidates"]}
    done = call(*words, "--dtype", "f64", f"{tmp_path}/a.npz:x")
    assert done.returncode == 2 and b"it holds f32, not f64" in done.stderr


def test_bench_codec_takes_arrays_and_names_those_that_it_cannot(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=VALUES, y=np.arange(3))
    files = [word for name in "xyz" for word in ("--file", f"{tmp_path}/a.npz:{name}")]
    done = call(
        "bench", "codec", "--device", "cpu", "--codec", "lorenzo", "--runs", "1", "--json", *files
    )
    assert {row["shape"] for row in json.loads(done.stdout)} == {"4x64x64", "16384"}
    assert b"skipped a.npz:y: it holds int64" in done.stderr
    assert b"skipped a.npz:z: it has no array of that name, but x f32 4x64x64; y" in done.stderr


def test_explain_samples_the_values_and_no_header(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=VALUES, y=VALUES.astype("f8"))
    words = ("explain", "--bytes", "64KiB", "--link", "1gbit", "--dtype", "f32", "--data")
    done = call(*words, f"{tmp_path}/a.npz:x")
    assert done.returncode == 0 and b"65536 bytes of a.npz:x" in done.stdout + done.stderr
    done = call(*words, f"{tmp_path}/a.npz:y")
    assert done.returncode != 0 and b"it holds f64, not f32" in done.stderr


def test_bench_raw_takes_raw_values_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VALUES)
    done = call("bench", "raw", "--loopback", "--values", tmp_path / "a.npy")
    assert done.returncode == 2 and b"--values takes a file of raw values" in done.stderr


@pytest.mark.parametrize("command", ["encode", "advise", "inspect"])
def test_what_cannot_be_read_ends_in_one_line(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04" + bytes(100))
    options = {"encode": ["--codec", "mpc", "-"], "advise": ["--link", "1gbit"]}.get(command, [])
    for path, says in {
        tmp_path / "a.npz": "a.npz: it cannot be read: ",
        tmp_path / "none.npy": "does not exist",
        tmp_path: "is a folder, not a file",
    }.items():
        done = call(command, path, *options)
        assert done.returncode == 2 and says in done.stderr.decode()
        assert "Traceback" not in done.stderr.decode()
