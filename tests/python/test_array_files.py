"""Arrays of files as people have them, read with their type and shape; and refusals that help."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thinwire import array_files
from thinwire.array_files import npy
from thinwire.bench import samples

VALUES = np.sin(np.arange(2 * 3 * 5) / 7).astype("<f4").reshape(2, 3, 5)


def same(found: array_files.Values, wanted: np.ndarray, dtype: str = "f32") -> bool:
    """Type, shape and bits, in the order that codecs take."""
    array = found.array
    assert found.dtype == dtype and found.has_shape and array.flags.c_contiguous
    return array.dtype.str[0] in "<|" and (array.shape, array.tobytes()) == (
        wanted.shape,
        wanted.tobytes(),
    )


def read(path: Path, name: str = "", dtype: str | None = None) -> array_files.Values:
    return array_files.read(Path(f"{path}:{name}") if name else path, dtype)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("kind", "dtype"), [("<f4", "f32"), (">f4", "f32"), (">f8", "f64"), ("<f2", "f16")]
)
def test_npy_of_either_order(tmp_path: Path, kind: str, dtype: str, order: Any) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.asarray(VALUES.astype(kind), order=order))
    assert same(read(path), VALUES.astype(kind[1:]), dtype)


def test_bits_are_moved_and_not_converted(tmp_path: Path) -> None:
    words = np.array([0x7FA00001, 0xFFC12345, 0x80000000, 1], ">u4")
    np.save(tmp_path / "a.npy", words.view(">f4"))
    assert read(tmp_path / "a.npy").array.view("u4").tolist() == words.tolist()


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (2,) * 7])
def test_npy_of_odd_shapes(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "a.npy", np.ones(shape, "f8"))
    assert same(read(tmp_path / "a.npy"), np.ones(shape), "f64")


def test_words_of_types_that_numpy_has_not(tmp_path: Path) -> None:
    words = np.arange(6, dtype="u2").reshape(2, 3)
    for kind in ("<u2", ">u2", "<i2", "V2"):
        np.save(tmp_path / "a.npy", words.view(kind) if kind == "V2" else words.astype(kind))
        assert same(read(tmp_path / "a.npy", dtype="bf16"), words, "bf16")
    with pytest.raises(ValueError, match="pass --dtype bf16"):
        read(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", words.astype("u1"))
    assert same(read(tmp_path / "b.npy", dtype="e5m2"), words.astype("u1"), "e5m2")


RECORDS = np.zeros(3, [("x", "f4"), ("y", "f4")])
REFUSED = {
    "int32": (np.arange(3, dtype="i4"), "int32: save it as floats"),
    "bool": (np.ones(3, bool), "bool: save it as floats"),
    "complex": (np.ones(3, "c16"), r"complex128: save its parts as floats, by .view\('f8'\)"),
    "text": (np.array(["a", "bc"]), "codecs take floats"),
    "dates": (np.array(["2026-11-30"], "M8[D]"), "codecs take floats"),
    "records": (RECORDS, "records: save one field"),
    "long double": (np.ones(3, "g"), "save it as floats"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_float_is_refused_with_advice(tmp_path: Path, kind: str) -> None:
    array, says = REFUSED[kind]
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", x=array)
    for path in (tmp_path / "a.npy", tmp_path / "a.npz"):
        with pytest.raises(ValueError, match=rf"^{path.name}: it holds .*{says}"):
            read(path)


class Mark:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    objects = np.empty(1, object)
    objects[0] = Mark(tmp_path / "marked")
    np.save(tmp_path / "a.npy", objects, allow_pickle=True)
    np.load(tmp_path / "a.npy", allow_pickle=True)
    assert (tmp_path / "marked").exists()
    (tmp_path / "marked").unlink()
    with pytest.raises(ValueError, match="codecs take floats"):
        read(tmp_path / "a.npy")
    assert not (tmp_path / "marked").exists()


def test_a_type_that_contradicts_the_file_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VALUES)
    assert same(read(tmp_path / "a.npy", dtype="f32"), VALUES)
    for dtype in ("f64", "f16", "bf16"):
        with pytest.raises(ValueError, match=f"it holds f32, not {dtype}: leave --dtype out"):
            read(tmp_path / "a.npy", dtype=dtype)
    # A file is so many bytes, header and all, for whoever asks for them.
    found = read(tmp_path / "a.npy", dtype="bytes")
    assert found.array.tobytes() == (tmp_path / "a.npy").read_bytes() and not found.has_shape


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path: Path, save: Any) -> None:
    path = tmp_path / "a.npz"
    save(path, only=VALUES)
    assert same(read(path), VALUES) and same(read(path, "only"), VALUES)
    save(path, a=np.arange(4), **{"in/b": np.asfortranarray(VALUES)}, c=VALUES[0].astype(">f8"))
    assert same(read(path, "in/b"), VALUES) and same(
        read(path, "c.npy"), VALUES[0].astype("f8"), "f64"
    )
    with pytest.raises(ValueError) as caught:
        read(path)
    said = "a.npz: name one of its arrays (a.npz:a): a int64 4; in/b f32 2x3x5; c f64 3x5"
    assert str(caught.value) == said
    with pytest.raises(ValueError, match="no array of that name, but a int64 4; "):
        read(path, "d")


def test_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["g/a"] = VALUES
        packed = {"chunks": (1, 3, 5), "compression": "gzip", "shuffle": True}
        file.create_dataset("g/big", data=VALUES.astype(">f8"), **packed)
        file["number"], file["text"], file["count"] = np.float64(3), "words", np.arange(3)
        file["soft"] = h5py.SoftLink("/g/a")
        file["away"] = h5py.ExternalLink("b.h5", "/x")
        file["nothing"] = h5py.Empty("f4")
        half = h5py.h5t.IEEE_F32LE.copy()
        half.set_fields(15, 7, 8, 0, 7)
        half.set_size(2)
        h5py.h5d.create(file.id, b"odd", half, h5py.h5s.create_simple((3,)))
    assert same(read(path, "/g/a"), VALUES) and same(read(path, "soft"), VALUES)
    assert same(read(path, "g/big"), VALUES.astype("f8"), "f64")
    assert same(read(path, "number"), np.array(3.0), "f64")
    for name, says in {
        "": "(a.h5:/count): /count int64 3; /g/a f32 2x3x5; /g/big f64 2x3x5; "
        "/nothing (it holds no values); /number f64; ",
        "away": "a link to another file",
        "text": "codecs take floats",
        "odd": "a type that numpy has not",
        "nothing": "no values",
        "g": "no array of that name",
        "g/a/b": "no array of that name",
    }.items():
        with pytest.raises(ValueError) as caught:
            read(path, name)
        assert says in str(caught.value)


def test_values_in_other_files_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    (tmp_path / "secret").write_bytes(bytes(400))
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["x"] = np.ones(4, "f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        outside = [(str(tmp_path / "secret"), 0, 400)]
        file.create_dataset("outside", (100,), "f4", external=outside)
        layout = h5py.VirtualLayout((4,), "f4")
        layout[:] = h5py.VirtualSource(tmp_path / "b.h5", "x", (4,))
        file.create_virtual_dataset("virtual", layout)
        file["ext"] = h5py.ExternalLink("b.h5", "/x")
        file["soft"] = h5py.SoftLink("/ext")
    for name, says in {
        "outside": "values are in other files",
        "virtual": "values are in other files",
        "soft": "a link to another file",
    }.items():
        with pytest.raises(ValueError, match=says):
            read(tmp_path / "a.h5", name)


FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"]


@pytest.mark.parametrize("form", FORMATS)
def test_netcdf_values_are_those_stored(tmp_path: Path, form: Any) -> None:
    netcdf = pytest.importorskip("netCDF4")
    if form == "NETCDF4":
        pytest.importorskip("h5py")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w", format=form) as file:
        for name, extent in {"time": None, "y": 3, "x": 5}.items():
            file.createDimension(name, extent)
        file.title = "of three letters: abc"
        flags = file.createVariable("flags", "i1", ("time", "y"))
        field = file.createVariable("field", "f4", ("time", "y", "x"), fill_value=-1)
        field.scale_factor, field.units = 2.0, "m"
        flat = file.createVariable("flat", "f8", ("y", "x"))
        file.set_auto_maskandscale(False)
        field[:], flags[:], flat[:] = VALUES, np.ones((2, 3)), VALUES[1]
    assert same(read(path, "field"), VALUES)
    assert same(read(path, "flat"), VALUES[1].astype("f8"), "f64")
    with pytest.raises(ValueError, match="name one of its arrays") as caught:
        read(path)
    slash = "/" if form == "NETCDF4" else ""
    for each in ("flags int8 2x3", "field f32 2x3x5", "flat f64 3x5"):
        assert f" {slash}{each}" in str(caught.value)


@pytest.mark.parametrize("form", FORMATS[:3])
@pytest.mark.parametrize("streamed", [False, True])
def test_netcdf_of_one_record_variable_has_no_padding(
    tmp_path: Path, form: Any, streamed: bool
) -> None:
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("words", "i2", ("time", "x"))[:] = np.arange(15).reshape(5, 3)
    data = bytearray(path.read_bytes())
    if streamed:  # a writer that does not know how many there will be
        data[4 : 12 if form.endswith("DATA") else 8] = b"\xff" * (8 if form.endswith("DATA") else 4)
        path.write_bytes(data)
    wanted = np.arange(15, dtype="u2").reshape(5, 3)
    assert same(read(path, "words", dtype="bf16"), wanted, "bf16")


def test_a_name_may_have_colons(tmp_path: Path) -> None:
    np.savez(tmp_path / "a:b.npz", **{"c:d": VALUES, "e": VALUES[0]})
    assert same(read(tmp_path / "a:b.npz", "c:d"), VALUES)
    VALUES.tofile(tmp_path / "x:y.f32")
    assert read(tmp_path / "x:y.f32").array.tobytes() == VALUES.tobytes()
    with pytest.raises(ValueError, match="raw values has no arrays"):
        read(tmp_path / "x:y.f32", "z")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.npz", "x")
    with pytest.raises(FileNotFoundError):
        read(tmp_path, "x")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


def test_samples_have_the_shape_of_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VALUES.reshape(1, 2, 1, 3, 5))
    np.save(tmp_path / "many.npy", np.ones((2,) * 6, "f4"))
    assert samples.read_shaped(tmp_path / "a.npy", None, None).values.shape == (2, 3, 5)
    assert samples.read_shaped(tmp_path / "a.npy", None, (6, 5)).values.shape == (6, 5)
    assert samples.read_shaped(tmp_path / "many.npy", None, None).values.shape == (8, 2, 2, 2)
    assert samples.read(tmp_path / "a.npy").values.shape == (30,)
    with pytest.raises(ValueError, match="30 values do not have the shape 7x5"):
        samples.read_shaped(tmp_path / "a.npy", None, (7, 5))
    np.save(tmp_path / "none.npy", np.ones(0, "f4"))
    with pytest.raises(ValueError, match="none.npy: 0 bytes"):
        samples.read(tmp_path / "none.npy")


def test_a_line_of_values_has_no_header_in_it(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(VALUES.astype(">f4")))
    VALUES.tofile(tmp_path / "a.raw")
    for name in ("a.npy", "a.raw"):
        assert array_files.line(tmp_path / name, "f32").tobytes() == VALUES.tobytes()
    assert isinstance(array_files.line(tmp_path / "a.raw", "f32"), np.memmap)
    assert array_files.line(tmp_path / "a.raw", "f64").size == 15
    with pytest.raises(ValueError, match="it holds f32, not f64"):
        array_files.line(tmp_path / "a.npy", "f64")
    assert array_files.has_raw_values(tmp_path / "a.raw")
    assert not array_files.has_raw_values(tmp_path / "a.npy")


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3, 5)])
def test_a_header_of_npy_is_numpys(shape: tuple[int, ...]) -> None:
    array = np.ones(shape, "f8")
    saved = io.BytesIO()
    np.save(saved, array)
    assert npy.header_of(array) + array.tobytes() == saved.getvalue()


def test_without_h5py_the_error_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500))
    (tmp_path / "h5py.py").write_text("raise ImportError('not here')")
    program = "import sys; from pathlib import Path; from thinwire import array_files as a"
    call = f"sys.path.insert(0, {str(tmp_path)!r}); a.read(Path({str(tmp_path / 'a.h5')!r}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; {call}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "ValueError: a.h5: h5py reads HDF5 and netCDF-4 files: pip install h5py" in done.stderr
