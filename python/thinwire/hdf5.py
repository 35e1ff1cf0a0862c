"""HDF5's filter of Thinwire: chunks of datasets as frames, for h5py, h5repack, h5dump and netCDF-4.

Importing this makes h5py find the filter. Other programs find it by HDF5_PLUGIN_PATH, the folder
that `python -m thinwire.hdf5` prints; `python -m thinwire.hdf5 SPEC DTYPE CHUNK`, as in
`szp:abs=1e-4 f32 128x128`, prints what h5repack and nccopy take."""

import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thinwire import dtypes
from thinwire.codec import Codec
from thinwire.library import ThinwireError, library_path

FILTER = 38007  # of the numbers that the HDF Group gives to nobody
_LAYOUT = 1  # of the client values (shim/hdf5/filter.c)
_MOST_RANK = 4


def plugin_folder() -> Path:
    """The folder of the filter; FileNotFoundError if this installation has none."""
    return library_path("hdf5/libthinwire_hdf5.so").parent


def compression(
    codec: str, array: Any, chunks: Sequence[int], *, dtype: str | None = None
) -> dict[str, Any]:
    """Words for h5py's create_dataset(): `array` is of the dataset's type, or that type itself.
    `dtype` names a type that numpy has none for, as "bf16" for 16-bit words. ValueError for
    elements that are no little-endian floats, ThinwireError for a spec that does not parse."""
    kind = getattr(array, "dtype", array)
    name = dtype or dtypes.name_of_numpy(_numpy_dtype(kind))
    if dtype is None and name == "bytes":
        raise ValueError(f"{kind} is no little-endian float: leave the filter out")
    values = client_values(codec, name, chunks)
    return {"chunks": tuple(chunks), "compression": FILTER, "compression_opts": values}


def client_values(codec: str, dtype: str, chunks: Sequence[int]) -> tuple[int, ...]:
    """What the filter reads to encode chunks of that type and shape."""
    if dtype not in dtypes.CODES:
        raise ValueError(f"no dtype {dtype!r}: {', '.join(dtypes.CODES)}")
    if not chunks or min(chunks) < 1:
        raise ValueError(f"{chunks} is no shape of a chunk")
    shape = list(chunks)
    while len(shape) > _MOST_RANK:  # the slowest axes count as one
        shape[:2] = [shape[0] * shape[1]]
    spec = Codec(codec).spec.encode()
    words = struct.unpack(f"<{-(-len(spec) // 4)}I", spec + bytes(-len(spec) % 4))
    return (_LAYOUT, dtypes.CODES[dtype], len(shape), *shape, len(spec), *words)


def _numpy_dtype(kind: Any) -> Any:
    import numpy as np

    return np.dtype(kind)


def _register() -> None:
    """Names the folder to h5py, if that is there."""
    try:
        import h5py
    except ImportError:
        return
    folder = str(plugin_folder()).encode()
    known = [h5py.h5pl.get(each) for each in range(h5py.h5pl.size())]
    if folder not in known:
        h5py.h5pl.prepend(folder)


def main(words: list[str]) -> None:
    """Prints the folder, or options of other programs; ends with a sentence if it cannot."""
    try:
        if not words:
            print(plugin_folder())
            return
        codec, dtype, chunk = words
        values = client_values(codec, dtype, [int(extent) for extent in chunk.split("x")])
    except (ValueError, ThinwireError, OSError) as error:
        sys.exit(f"python -m thinwire.hdf5 [SPEC DTYPE CHUNK]: {error}")
    text = ",".join(map(str, values))
    print(f"h5repack -f NAME:UD={FILTER},1,{len(values)},{text} -l NAME:CHUNK={chunk}")
    print(f"nccopy -F NAME,{FILTER},{text}")


if __name__ == "__main__":
    main(sys.argv[1:])
else:
    _register()
