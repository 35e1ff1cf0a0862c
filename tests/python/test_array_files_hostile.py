"""Files of arrays that are damaged, cut off, or made to harm: in one line what is wrong, at once,
and without memory for what they only claim."""

import io
import random
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from changed import limit, seeds

from thinwire import array_files

CHANGER = str(Path(__file__).with_name("changed_hdf5.py"))
VALUES = np.sin(np.arange(600) / 7).astype("<f4").reshape(20, 30)


def npy(header: bytes, version: int = 1, values: bytes = bytes(64)) -> bytes:
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + values


def described(descr: str = "'<f4'", order: str = "False", shape: str = "(16,)") -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()


BAD_NPY = {
    "short": (b"\x93NUMPY\x01", "cut off"),
    "version": (npy(described(), 9), "known version"),
    "more than it has": (npy(described(shape="(17,)")), "declares 68 bytes"),
    "less than it has": (npy(described(shape="(15,)")), "more follows"),
    "huge": (npy(described(shape="(1 << 50,)".replace("1 << 50", str(2**50)))), "declares"),
    "overflowing": (npy(described(shape=f"({2**62}, 4)")), "declares"),
    "huge by nothing": (npy(described(shape=f"({2**62}, 0)"), values=b""), "too big"),
    "negative": (npy(described(shape="(-16,)")), "its shape is none"),
    "of truths": (npy(described(shape="(True,)")), "its shape is none"),
    "of too many axes": (npy(described(shape=f"({'1, ' * 65})")), "its shape is none"),
    "of text": (npy(described(shape="'16'")), "none of numpy's"),
    "order": (npy(described(order="2")), "none of numpy's"),
    "descr": (npy(described("'zz'")), "none of numpy's"),
    "program": (npy(b"__import__('os').system('true')"), "none of numpy's"),
    "deep": (npy(b"-" * 9000 + b"1"), "none of numpy's"),
    "deep lists": (npy(b"[" * 9000), "none of numpy's"),
    "long header": (npy(described() + b" " * 20000, 2), "20000|more than 10000"),
    "header of 4 GB": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "more than 10000"),
}


@pytest.mark.parametrize("kind", BAD_NPY)
def test_bad_npy(tmp_path: Path, kind: str) -> None:
    data, says = BAD_NPY[kind]
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with limit(3), pytest.raises(ValueError, match=says) as caught:
        array_files.read(path)
    assert str(caught.value).startswith("a.npy: ") and "\n" not in str(caught.value)


def zipped(name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr(name, data)
    return made.getvalue()


def zipped_with(method: int, flags: int = 0) -> bytes:
    """A member that claims a method and flags which it has not."""
    data = bytearray(zipped("x.npy", npy(described())))
    for at, to in ((data.find(b"PK\x03\x04"), 6), (data.find(b"PK\x01\x02"), 8)):
        struct.pack_into("<HH", data, at + to, flags, method)
    return bytes(data)


BOMB = described(shape=f"({(8 << 30) // 4},)")
BAD_NPZ = {
    "empty": (zipped("x.txt", b"")[-22:], "it cannot be read"),
    "no array": (zipped("x.txt", b"text"), "without arrays of numpy"),
    "declares more": (zipped("x.npy", npy(BOMB)), "declares"),
    "stored, declares more": (zipped("x.npy", npy(BOMB), zipfile.ZIP_STORED), "declares"),
    "method": (zipped("x.npy", npy(described()), zipfile.ZIP_LZMA), "packed by method 14"),
    "unknown method": (zipped_with(77), "method 77"),
    "encrypted": (zipped_with(8, flags=1), "encrypted"),
    "cut off": (zipped("x.npy", npy(described()))[:-30], "it cannot be read"),
    "no directory": (b"PK\x03\x04" + bytes(100), "it cannot be read"),
}


@pytest.mark.parametrize("kind", BAD_NPZ)
def test_bad_npz(tmp_path: Path, kind: str) -> None:
    data, says = BAD_NPZ[kind]
    (tmp_path / "a.npz").write_bytes(data)
    with limit(3), pytest.raises(ValueError, match=says) as caught:
        array_files.read(tmp_path / "a.npz")
    assert "\n" not in str(caught.value)


def test_a_checksum_of_a_member_is_compared(tmp_path: Path) -> None:
    data = zipped("x.npy", npy(described(), values=b"\x01" * 64), zipfile.ZIP_STORED)
    at = data.find(b"\x01" * 64)
    (tmp_path / "a.npz").write_bytes(data[:at] + b"\x02" + data[at + 1 :])
    with pytest.raises(ValueError, match="CRC"):
        array_files.read(tmp_path / "a.npz")


def test_names_print_no_escapes(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{"\x1b[31mred\r\nline": VALUES, "b" * 5000: VALUES})
    with pytest.raises(ValueError) as caught:
        array_files.read(tmp_path / "a.npz")
    assert str(caught.value).isprintable() and len(str(caught.value)) < 1000


def test_a_list_of_many_is_cut(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{f"n{each}": VALUES for each in range(500)})
    with pytest.raises(ValueError, match="; and 480 more$"):
        array_files.read(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.h5", "a.hdf5", "a.nc", "A.NC4"])
def test_a_suffix_that_the_bytes_contradict(tmp_path: Path, name: str) -> None:
    VALUES.tofile(tmp_path / name)
    with pytest.raises(ValueError, match=f"^{name}: it is named as an?"):
        array_files.read(tmp_path / name, "f32")
    assert array_files.read(tmp_path / name, "bytes").array.nbytes == VALUES.nbytes


@pytest.mark.parametrize("begin", [b"GRIB", b"SIMPLE  =", b"\x28\xb5\x2f\xfd", b"PAR1"])
def test_other_kinds_are_named(tmp_path: Path, begin: bytes) -> None:
    (tmp_path / "a.f32").write_bytes(begin + bytes(400 - len(begin)))
    with pytest.raises(ValueError, match=r"a.f32: no raw values, but a .* \(or pass --dtype bytes"):
        array_files.read(tmp_path / "a.f32")


def classic_netcdf() -> bytes:
    """A file of two record variables and a fixed one."""
    name = {
        key: struct.pack(">I", len(key)) + key.ljust(4, b"\0") for key in (b"t", b"x", b"v", b"w")
    }
    dims = struct.pack(">II", 10, 2) + name[b"t"] + bytes(4) + name[b"x"] + struct.pack(">I", 3)

    def variable(key: bytes, axes: list[int], kind: int, size: int, begin: int) -> bytes:
        head = name[key] + struct.pack(f">I{len(axes)}I", len(axes), *axes)
        return head + bytes(8) + struct.pack(">III", kind, size, begin)

    head = b"CDF\x01" + struct.pack(">I", 2) + dims + bytes(8) + struct.pack(">II", 11, 3)
    length = len(head) + 3 * (8 + 4 + 8 + 12) + 4 * 4
    rows = [([0, 1], 5, 12, length), ([0], 3, 4, length + 12), ([1], 6, 24, length + 32)]
    keys = (b"v", b"w", b"x")
    made = head + b"".join(variable(key, *row) for key, row in zip(keys, rows, strict=True))
    record = np.arange(3, dtype=">f4").tobytes() + b"\0\7\0\0"
    return made + record + record + np.ones(3, ">f8").tobytes()


def test_classic_netcdf_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    path.write_bytes(classic_netcdf())
    assert array_files.read(Path(f"{path}:v")).array.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert array_files.read(Path(f"{path}:x")).array.tolist() == [1, 1, 1]
    path.write_bytes(classic_netcdf()[:-8])
    with pytest.raises(ValueError, match="cut off or damaged: it declares"):
        array_files.read(Path(f"{path}:x"))


def netcdf_of(version: int, *numbers: int) -> bytes:
    return b"CDF" + bytes([version]) + struct.pack(f">{len(numbers)}I", *numbers)


BAD_NETCDF = {
    "short": b"CDF\x01\0",
    "names without end": netcdf_of(1, 0, 10, 2**32 - 1) + bytes(100),
    "a long name": netcdf_of(1, 0, 10, 1, 2**32 - 1) + bytes(100),
    "a tag": netcdf_of(1, 0, 7, 1) + bytes(100),
    "an absent list with members": netcdf_of(2, 0, 0, 5) + bytes(100),
    "long attributes": netcdf_of(1, 0, 0, 0, 12, 1, 1, 0, 6, 2**31) + bytes(100),
    "axes that are none": netcdf_of(1, 0, 0, 0, 0, 0, 11, 1, 1, 0, 1, 9) + bytes(100),
    "axes without end": netcdf_of(1, 0, 0, 0, 0, 0, 11, 1, 1, 0, 2**32 - 1) + bytes(100),
}


@pytest.mark.parametrize("kind", BAD_NETCDF)
def test_bad_netcdf(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.nc").write_bytes(BAD_NETCDF[kind])
    with limit(3), pytest.raises(ValueError, match=r"^a\.nc: ") as caught:
        array_files.read(tmp_path / "a.nc")
    assert "\n" not in str(caught.value)


def saved(save: Callable[..., None], *arrays: np.ndarray, **named: np.ndarray) -> bytes:
    made = io.BytesIO()
    save(made, *arrays, **named)
    return made.getvalue()


SOUND = {
    "npy": (saved(np.save, VALUES), ""),
    "npz": (saved(np.savez, x=VALUES, y=VALUES[0]), "x"),
    "packed npz": (saved(np.savez_compressed, x=VALUES), ""),
    "netcdf": (classic_netcdf(), "v"),
}


@pytest.mark.parametrize("kind", SOUND)
def test_changed_files_are_read_or_refused(tmp_path: Path, kind: str) -> None:
    data, name = SOUND[kind]
    path = tmp_path / "a.bin"
    outcomes = {True: 0, False: 0}
    for seed in seeds(f"files of {kind}"):
        chance = random.Random(seed)
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            # Most of what is said stands at the ends.
            at = min(int(chance.expovariate(1 / 60)), len(data) - 1)
            changed[at if chance.random() < 0.7 else -at - 1] = chance.choice((0, 1, 127, 255, 8))
        if chance.random() < 0.2:
            del changed[chance.randrange(len(changed)) :]
        path.write_bytes(changed)
        try:
            with limit(3):
                array_files.read(Path(f"{path}:{name}") if name else path, "f32")
            outcomes[True] += 1
        except ValueError as error:
            assert str(error).startswith("a.bin") and "\n" not in str(error)
            outcomes[False] += 1
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    assert min(outcomes.values()) > sum(outcomes.values()) / 100


MOST_MEMORY = 3 << 30
READ = """
import resource, sys
from pathlib import Path
import numpy
from thinwire import array_files
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
try:
    print(array_files.read(Path(sys.argv[1])).array.shape)
except ValueError as error:
    print(error)
"""


def told_within(path: str, most: int) -> str:
    """What a process with so many bytes of addresses says of a file."""
    done = subprocess.run(
        [sys.executable, "-c", READ, path, str(most)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_memory_is_taken_for_what_is_only_claimed(tmp_path: Path) -> None:
    """Of 8 GiB; the limit bites, as a file that holds what it says shows."""
    (tmp_path / "a.npy").write_bytes(npy(BOMB))
    (tmp_path / "a.npz").write_bytes(zipped("x.npy", npy(BOMB)))
    for name in ("a.npy", "a.npz"):
        assert "declares" in told_within(str(tmp_path / name), MOST_MEMORY)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("sparse", (1 << 33,), "f4", chunks=(1 << 10,), compression="gzip")
        file.create_dataset("chunk", (4,), "f4", chunks=(1 << 29,), maxshape=(None,))
        file.create_dataset("late", (1 << 33,), "f4")
    for name in ("sparse", "chunk", "late"):
        assert "declares" in told_within(f"{tmp_path}/a.h5:{name}", MOST_MEMORY)


def test_changed_hdf5_files_are_read_or_refused(tmp_path: Path) -> None:
    """In a process of its own, as the library is not ours."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "sound.h5", "w") as file:
        file["g/a"] = VALUES
        file.create_dataset("g/b", data=VALUES, chunks=(5, 30), compression="gzip")
    done = subprocess.run(
        [sys.executable, CHANGER, str(tmp_path / "sound.h5"), str(tmp_path / "changed.h5")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    read, refused = map(int, done.stdout.split())
    assert read and refused
