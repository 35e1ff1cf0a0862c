"""numpy arrays, and how an array is laid out beside its frame."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from thinwire.dask import coding
from thinwire.dask.handshake import KEY, LAYOUT

# The element type that each is coded as; complex numbers are two floats. Types of the other byte
# order are not among them.
CODED = {
    np.dtype(np.float16): "f16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    np.dtype(np.complex64): "f32",
    np.dtype(np.complex128): "f64",
}
_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def encode(
    x: np.ndarray, context: Mapping[str, Any], on_gpu: bool = False
) -> tuple[dict[str, Any], list[Any]] | None:
    """Header and frames for a connection; None if distributed's own functions send the array.

    Subclasses, arrays of no dimensions and arrays that repeat values by strides of 0, of which
    distributed sends each value once, are always its own.
    """
    if on_gpu or type(x) is not np.ndarray or not is_simple(x):
        return None
    frame = coding.encode(x, lambda: _floats(x), CODED.get(x.dtype), x.nbytes, None, context)
    if frame is None:
        return None
    return layout(x) | {"writeable": bool(x.flags.writeable)}, [frame]


def decode(header: Mapping[str, Any], frames: list[Any]) -> np.ndarray:
    """Raises DamagedFrame for a frame that is damaged or of another array."""
    dtype, shape, order = read_layout(header)
    (frame,) = frames
    nbytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
    x = coding.decode(frame, nbytes).reshape(-1).view(dtype)
    x = x.reshape(shape) if order == "C" else x.reshape(shape[::-1]).T
    x.flags.writeable = bool(header["writeable"])
    return x


def is_simple(x: Any) -> bool:
    """Of numpy's and cupy's arrays: it has dimensions, values, and each of these once."""
    return bool(x.ndim and x.size and 0 not in x.strides)


def layout(x: Any) -> dict[str, Any]:
    """What a receiver makes the array of, beside the frame. Arrays that are contiguous in neither
    order arrive in C's, as distributed's own do."""
    in_f = x.flags.f_contiguous and not x.flags.c_contiguous
    shape = tuple(int(extent) for extent in x.shape)
    return {KEY: LAYOUT, "dtype": x.dtype.str, "shape": shape, "order": "F" if in_f else "C"}


def read_layout(header: Mapping[str, Any]) -> tuple[np.dtype, tuple[int, ...], str]:
    if header[KEY] != LAYOUT:
        raise coding.damaged(f"an array of layout {header[KEY]} where this version reads {LAYOUT}")
    return np.dtype(header["dtype"]), tuple(header["shape"]), header["order"]


def _floats(x: np.ndarray) -> np.ndarray:
    """The values as contiguous floats, in the order of memory."""
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        x = x.T
    return np.ascontiguousarray(x).view(_FLOATS[CODED[x.dtype]])
