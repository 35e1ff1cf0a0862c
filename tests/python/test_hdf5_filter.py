"""The filter for HDF5: what one program writes another reads, which need not know Thinwire."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thinwire
from thinwire import array_files
from thinwire.library import library_path

h5py = pytest.importorskip("h5py")
VALUES = np.cumsum(np.random.default_rng(1).standard_normal((20, 30, 40)), axis=2).astype("f4")


@pytest.fixture(scope="module")
def hdf5() -> Any:
    try:
        library_path("hdf5/libthinwire_hdf5.so")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    from thinwire import hdf5

    return hdf5


def write(path: Path, words: dict[str, Any], values: np.ndarray = VALUES) -> Path:
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, **words)
    return path


def read(path: Path) -> np.ndarray:
    with h5py.File(path) as file:
        return file["x"][:]


def without_thinwire(program: str, *words: str | Path, folder: Path) -> str:
    """What a program says that finds the filter by its folder alone."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env={**os.environ, "HDF5_PLUGIN_PATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_a_dataset_comes_back(hdf5: Any, tmp_path: Path, kind: str) -> None:
    """Its last chunks are filled up."""
    values = VALUES.astype(kind)
    path = write(tmp_path / "a.h5", hdf5.compression("lorenzo", values, (8, 16, 40)), values)
    assert read(path).tobytes() == values.tobytes()
    with h5py.File(path) as file:
        _, chunk = file["x"].id.read_direct_chunk((0, 0, 0))
    info = thinwire.inspect(chunk)
    assert (info.spec, info.shape) == ("lorenzo:tuple=1", (8, 16, 40))


def test_bounds_hold(hdf5: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", hdf5.compression("szp:abs=1e-3", VALUES, (8, 16, 40)))
    assert 0 < np.abs(read(path).astype("f8") - VALUES).max() <= 1e-3
    assert path.stat().st_size < VALUES.nbytes * 0.6


def test_a_reader_needs_the_folder_alone(hdf5: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", hdf5.compression("mpc", VALUES, (8, 16, 40)))
    program = "import sys, h5py; print(h5py.File(sys.argv[1])['x'][:].tobytes().hex()[:64])"
    said = without_thinwire(program, path, folder=hdf5.plugin_folder())
    assert said == VALUES.tobytes().hex()[:64] + "\n"
    assert "OSError" in without_thinwire(program, path, folder=tmp_path)


def test_commands_read_filtered_datasets(hdf5: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", hdf5.compression("mpc", VALUES, (8, 16, 40)))
    program = "import sys; from pathlib import Path; from thinwire import array_files as a"
    call = "print(a.read(Path(sys.argv[1])).array.tobytes().hex()[:64])"
    said = without_thinwire(f"{program}; {call}", path, folder=tmp_path)
    assert said == VALUES.tobytes().hex()[:64] + "\n"
    assert array_files.read(path).array.tobytes() == VALUES.tobytes()


def test_h5dump_reads_it(hdf5: Any, tmp_path: Path) -> None:
    if shutil.which("h5dump") is None:
        pytest.skip("no h5dump on this machine")
    path = write(tmp_path / "a.h5", hdf5.compression("mpc", VALUES, (8, 16, 40)))
    command = ["h5dump", "-d", "/x", "-b", "LE", "-o", tmp_path / "values", path]
    settings = {**os.environ, "HDF5_PLUGIN_PATH": str(hdf5.plugin_folder())}
    subprocess.run(command, env=settings, check=True, timeout=60, capture_output=True)
    assert (tmp_path / "values").read_bytes() == VALUES.tobytes()


def test_damaged_chunks_are_errors(hdf5: Any, tmp_path: Path, capfd: Any) -> None:
    path = write(tmp_path / "a.h5", hdf5.compression("mpc", VALUES, (20, 30, 40)))
    with h5py.File(path) as file:
        _, chunk = file["x"].id.read_direct_chunk((0, 0, 0))
    small = thinwire.compress(VALUES[:10], "mpc")
    changed = bytearray(chunk)
    changed[len(chunk) // 2] ^= 1
    for bad, says in {
        bytes(changed): "checksum mismatch",
        bytes(chunk[:-1]): "HDF5 filter: ",
        bytes(300): "not a frame",
        small: "a frame of another size than a chunk",
    }.items():
        with h5py.File(path, "r+") as file:
            file["x"].id.write_direct_chunk((0, 0, 0), bad)
        with pytest.raises(OSError):
            read(path)
        assert says in capfd.readouterr().err
    with h5py.File(path, "r+") as file:
        file["x"].id.write_direct_chunk((0, 0, 0), bytes(chunk))
    assert read(path).tobytes() == VALUES.tobytes()


def test_what_cannot_be_encoded_is_stored_and_said(hdf5: Any, tmp_path: Path, capfd: Any) -> None:
    """HDF5 leaves out a filter that fails."""
    good = hdf5.compression("mpc", VALUES, (20, 30, 40))
    for options, says in {
        (1, 2, 3, 20, 30, 40, 0): "another size",
        (1, 1, 5, 20, 30, 40, 1, 1, 0): "client values are none",
        (1, 1, 3, 20, 30, 40, 300): "client values are none",
        (1, 99, 3, 20, 30, 40, 0): "another size",
        (1, 1, 1, 24000, 3, 0x666564): "no codec named 'def'",
        (1, 4, 3, 20, 30, 80, 3, 0x63706D): "mpc",
        (): "client values are none",
    }.items():
        path = write(tmp_path / "a.h5", {**good, "compression_opts": options})
        assert read(path).tobytes() == VALUES.tobytes()
        assert says in capfd.readouterr().err


def test_client_values(hdf5: Any) -> None:
    assert hdf5.client_values("mpc", "f32", (2, 3)) == (1, 1, 2, 2, 3, 12, *SPEC)
    assert hdf5.client_values("mpc", "f32", (2, 3, 4, 5, 6))[2:7] == (4, 6, 4, 5, 6)
    bf16 = hdf5.compression("expack", np.zeros(3, "u2"), (3,), dtype="bf16")
    assert bf16["compression_opts"][1] == 4
    for wrong in (np.zeros(3, ">f4"), np.dtype("i4"), "c8"):
        with pytest.raises(ValueError, match="no little-endian float"):
            hdf5.compression("mpc", wrong, (3,))
    for chunks in ((), (0,)):
        with pytest.raises(ValueError, match="no shape of a chunk"):
            hdf5.client_values("mpc", "f32", chunks)
    with pytest.raises(thinwire.ThinwireError):
        hdf5.client_values("nonsense", "f32", (3,))


SPEC = tuple(int.from_bytes(b"mpc:stride=1"[at : at + 4], "little") for at in (0, 4, 8))


def test_the_module_prints_what_other_programs_take(hdf5: Any) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "thinwire.hdf5", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert call().stdout == f"{hdf5.plugin_folder()}\n"
    numbers = ",".join(map(str, (1, 1, 2, 2, 3, 12, *SPEC)))
    repack, nccopy = call("mpc", "f32", "2x3").stdout.splitlines()
    assert f"UD=38007,1,9,{numbers} " in repack and nccopy.endswith(f",38007,{numbers}")
    for wrong in (("mpc",), ("mpc", "f32", "2xa"), ("none", "f32", "2"), ("mpc", "f9", "2")):
        done = call(*wrong)
        assert done.returncode == 1 and done.stderr.count("\n") == 1
