"""Thinwire's codecs for chunks of zarr's format 3: `ThinwireCodec("szp:abs=1e-3")`.

It needs zarr, which finds it by its entry point, under the name "thinwire". Format 2 takes the
codec of `thinwire.numcodecs`."""

import asyncio
from typing import Any, Self

import numpy as np
from zarr.abc.codec import ArrayBytesCodec

from thinwire.numcodecs import Thinwire


class ThinwireCodec(ArrayBytesCodec):
    """Encodes each chunk into one frame, in the chunk's shape: a `serializer` of zarr.

    `codec` and `dtype` are those of `thinwire.numcodecs.Thinwire`. Compressors after it find
    nothing to do: `compressors=None`. Chunks are coded on threads of asyncio's.
    """

    is_fixed_size = False

    def __init__(self, codec: str = "lossless", dtype: str | None = None) -> None:
        self._chunks = Thinwire(codec, dtype)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The codec of a chunk's metadata."""
        return cls(**data.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        config = self._chunks.get_config()
        name = config.pop("id")
        return {"name": name, "configuration": config}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ThinwireCodec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError("frames have no fixed size")

    async def _encode_single(self, chunk_data: Any, chunk_spec: Any) -> Any:
        array = chunk_data.as_numpy_array()
        # The format's types say no order of bytes.
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        frame = await asyncio.to_thread(self._chunks.encode, array)
        return chunk_spec.prototype.buffer.from_bytes(frame)

    async def _decode_single(self, chunk_data: Any, chunk_spec: Any) -> Any:
        values = await asyncio.to_thread(self._chunks.decode, chunk_data.to_bytes())
        dtype = chunk_spec.dtype.to_native_dtype().newbyteorder("=")
        array = values.view(dtype).reshape(chunk_spec.shape)
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(array)
