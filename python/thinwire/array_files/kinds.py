"""Which kind a file is of: by its first bytes, and by its suffix where these contradict it."""

from collections.abc import Callable

from thinwire.array_files.hdf5 import Hdf5
from thinwire.array_files.netcdf import Netcdf
from thinwire.array_files.npy import Npy
from thinwire.array_files.npz import Npz
from thinwire.array_files.place import Opened
from thinwire.array_files.stored import Arrays, Refused

_HDF5 = b"\x89HDF\r\n\x1a\n"
_HDF5_AT = (0, 512, 1024, 2048)  # after a block of the user's, as MATLAB's

_READERS: dict[bytes, Callable[[Opened], Arrays]] = {
    b"\x93NUMPY": Npy,
    b"PK\x03\x04": Npz,
    b"PK\x05\x06": Npz,
    b"CDF\x01": Netcdf,
    b"CDF\x02": Netcdf,
    b"CDF\x05": Netcdf,
}
_SUFFIXES = {
    ".npy": "a .npy file",
    ".npz": "a .npz file",
    ".h5": "an HDF5 file",
    ".hdf5": "an HDF5 file",
    ".nc": "a netCDF file",
    ".nc4": "a netCDF file",
}
# The first bytes of files of other kinds, four or more: raw values hardly ever begin so.
FRAME = b"tw frame"
_OTHERS = {
    FRAME: "a frame: decode it",
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


def arrays_of(opened: Opened) -> Arrays | None:
    """The arrays of a file; None if it has raw values. Refused for a file of another kind; what
    else readers raise for a damaged one is theirs."""
    head = opened.head(max(_HDF5_AT) + len(_HDF5))
    make = next((make for begin, make in _READERS.items() if head.startswith(begin)), None)
    if any(head[at : at + len(_HDF5)] == _HDF5 for at in _HDF5_AT):
        make = Hdf5
    if make is not None:
        return make(opened)
    for begin, what in _OTHERS.items():
        if head.startswith(begin):
            raise Refused(f"no raw values, but {what} (or pass --dtype bytes)")
    said = _SUFFIXES.get(opened.place.path.suffix.lower())
    if said is not None:
        raise Refused(f"it is named as {said}, and does not begin as one")
    return None
