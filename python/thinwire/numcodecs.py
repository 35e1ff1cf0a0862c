"""Thinwire's codecs for numcodecs, and so for chunks of zarr: `Thinwire("szp:abs=1e-3")`.

It needs numcodecs, which finds it by its entry point, under the id "thinwire"."""

from typing import Any

import numpy as np
from numcodecs.abc import Codec as _Codec
from numcodecs.compat import ensure_contiguous_ndarray, ensure_ndarray_like, ndarray_copy

from thinwire import dtypes, message
from thinwire.codec import Codec


class Thinwire(_Codec):
    """Encodes each chunk into one frame, in the chunk's shape.

    `codec` is a spec, as in "lorenzo" or "szp:abs=1e-3": ThinwireError if it is none. `dtype` names
    the type of elements that numpy has none for: "bf16" for 16-bit words, "e4m3" and "e5m2" for
    bytes. Complex numbers count as two floats; other elements as bytes, which few codecs take:
    "lossless" makes raw frames of them.
    """

    codec_id = "thinwire"

    def __init__(self, codec: str = "lossless", dtype: str | None = None) -> None:
        if dtype is not None and dtype not in dtypes.CODES:
            raise ValueError(f"no dtype {dtype!r}: {', '.join(dtypes.CODES)}")
        self.codec = Codec(codec).spec
        self.dtype = dtype

    def encode(self, buf: Any) -> bytes:
        """One frame. ThinwireError if the codec does not take the type."""
        array = np.asarray(ensure_ndarray_like(buf))
        # numcodecs hands over memory in an order of its own and wants the same back.
        if not array.flags.c_contiguous and array.flags.f_contiguous:
            array = array.T
        if array.dtype.kind == "c":
            array = np.ascontiguousarray(array).view(f"f{array.dtype.itemsize // 2}")
        frame = message.compress(array, self.codec, dtype=self.dtype)
        assert isinstance(frame, bytes)  # as an array in host memory gives
        return frame

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The elements as one line, or in `out`. ThinwireError if the frame is damaged."""
        array = message.decompress(ensure_contiguous_ndarray(buf)).reshape(-1)
        return array if out is None else ndarray_copy(array, out)

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] = {"id": self.codec_id, "codec": self.codec}
        return config if self.dtype is None else {**config, "dtype": self.dtype}
