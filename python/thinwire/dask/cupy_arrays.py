"""cupy arrays: encoded and decoded on their GPU."""

from collections.abc import Mapping
from typing import Any

import cupy
import numpy as np

from thinwire.dask import coding
from thinwire.dask.numpy_arrays import CODED, is_simple, layout, read_layout


def encode(
    x: Any, context: Mapping[str, Any], on_gpu: bool = False
) -> tuple[dict[str, Any], list[Any]] | None:
    """Header and frames, in GPU memory if `on_gpu` (connections of distributed-ucxx), else in host
    memory; None if distributed's own functions send the array."""
    if type(x) is not cupy.ndarray or not is_simple(x):
        return None
    kind = CODED.get(np.dtype(x.dtype))
    with x.device:
        frame = coding.encode(x, lambda: _floats(x), kind, x.nbytes, x.device.id, context)
        if frame is None:
            return None
        return layout(x), [cupy.asarray(frame) if on_gpu else memoryview(frame.to_bytes())]


def decode(header: Mapping[str, Any], frames: list[Any]) -> Any:
    """On the current GPU, as distributed's own. Raises DamagedFrame for a frame that is damaged
    or of another array."""
    dtype, shape, order = read_layout(header)
    (frame,) = frames
    x = cupy.empty(shape, dtype, order=order)
    if coding.has_gpu_side():
        coding.decode(frame, x.nbytes, _floats(x))
    else:
        host = coding.decode(frame, x.nbytes)
        floats = _floats(x)
        floats.set(host.reshape(floats.shape))
    return x


def _floats(x: Any) -> Any:
    """The values as contiguous floats, in the order of memory: of a contiguous array a view."""
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        x = x.T
    x = cupy.ascontiguousarray(x)
    if x.dtype.kind != "c":
        return x
    return x.view({"f32": cupy.float32, "f64": cupy.float64}[CODED[np.dtype(x.dtype)]])
