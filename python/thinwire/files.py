"""Files that commands read and write: of raw values, without a header; and results, which are
written whole or not at all."""

import errno
import os
from pathlib import Path

import numpy as np

from thinwire import dtypes

# The first bytes of files of other kinds, four or more: raw values hardly ever begin so.
_BEGINNINGS = {
    b"\x93NUMPY": "a .npy file: write its values by numpy's tofile()",
    b"PK\x03\x04": "a .npz or zip file: write the values of an array in it by numpy's tofile()",
    b"\x89HDF\r\n\x1a\n": "an HDF5 or netCDF-4 file: write the values of a variable in it",
    b"CDF\x01": "a netCDF file: write the values of a variable in it",
    b"CDF\x02": "a netCDF file: write the values of a variable in it",
    b"CDF\x05": "a netCDF file: write the values of a variable in it",
    b"SIMPLE  =": "a FITS file: write the values of an array in it",
    b"GRIB": "a GRIB file: write the values of a field in it",
    b"PAR1": "a Parquet file: write the values of a column in it",
    b"\x1f\x8b\x08\x00": "a gzip file: unpack it",
    b"\x1f\x8b\x08\x08": "a gzip file: unpack it",
    b"\x28\xb5\x2f\xfd": "a zstd file: unpack it",
    b"\x89PNG": "a picture",
    b"II*\x00": "a TIFF file",
    b"MM\x00*": "a TIFF file",
}


def read(path: Path, dtype: str) -> np.ndarray:
    """The little-endian values of a file or a pipe, as one line. Raises ValueError if they are
    no whole number, or if the file has a header; as "bytes" any file is taken."""
    data = path.read_bytes()
    if dtype != "bytes":
        for beginning, what in _BEGINNINGS.items():
            if data.startswith(beginning):
                raise ValueError(
                    f"{path.name}: no raw {dtype} values, but {what} (or pass --dtype bytes)"
                )
    if len(data) % dtypes.NUMPY[dtype].itemsize:
        raise ValueError(f"{path.name}: {len(data)} bytes are no whole number of {dtype} values")
    return np.frombuffer(bytearray(data), dtypes.NUMPY[dtype])


def expect(path: Path) -> None:
    """OSError if no file can be written there: before what takes long, and nothing is changed
    but that the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def write(path: Path, data: bytes | memoryview) -> None:
    """Writes a file; where that fails or is interrupted, as on a full disk, none is left. One that
    may not be written to stays as it is. OSError names the file."""
    is_open = False
    try:
        with path.open("wb", buffering=0) as file:
            is_open = True
            left = memoryview(data).cast("B")
            while len(left):
                left = left[file.write(left) :]
    except BaseException as error:
        # A path that is no file of its own, as a pipe or /dev/full, stays.
        if is_open and path.is_file() and not path.is_symlink():
            path.unlink()
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def replace(path: Path, data: bytes) -> None:
    """Writes a file anew: who reads the path finds the old file or the whole new one. A draft
    beside it, whose name ends otherwise, becomes the file. OSError names the path."""
    draft = path.with_name(f"{path.name}.draft{os.getpid()}")
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is no file that may be replaced")
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
