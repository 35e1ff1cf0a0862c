"""Files of raw little-endian values, without a header."""

import numpy as np

from thinwire import dtypes
from thinwire.array_files.place import Opened, Place
from thinwire.array_files.stored import take


def dtype_of(place: Place, given: str | None) -> str:
    """The element type of raw values: that which is given, else the suffix. ValueError if it is
    none, or if the place names an array."""
    if place.array is not None:
        raise ValueError(f"{place.name}: a file of raw values has no arrays with names")
    name = given or place.path.suffix.lstrip(".")
    if name not in dtypes.CODES:
        known = "|".join(dtypes.CODES)
        raise ValueError(f"{place.name}: cannot tell the element type: pass --dtype {known}")
    return name


def read(opened: Opened, dtype: str) -> np.ndarray:
    """The values as one line. ValueError if they are no whole number."""
    kind = dtypes.NUMPY[dtype]
    if opened.size % kind.itemsize:
        name = opened.place.name
        raise ValueError(f"{name}: {opened.size} bytes are no whole number of {dtype} values")
    opened.file.seek(0)
    return take(opened.file, opened.size).view(kind)
