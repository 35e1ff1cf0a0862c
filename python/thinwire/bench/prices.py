"""What codecs cost on a message or a collective: by a file's data, by this machine's table, or
measured on generated data."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thinwire import array_files
from thinwire.bench.buffers import FrameBuffers
from thinwire.bench.codec import fastest
from thinwire.codec import Codec, CodecCost
from thinwire.costs import find_here, own_path
from thinwire.library import ThinwireError

# Bytes that programs measure if there is no table.
MESSAGE_SAMPLE, COLLECTIVE_SAMPLE = 256 << 10, 1 << 20
# Pieces of a file that are read.
PIECES, PIECE_BYTES = 4, 1 << 20
RUNS = 3


@dataclass(frozen=True)
class Call:
    """A message (`operation` is "send") or a collective."""

    operation: str
    bytes: int
    dtype: str
    ranks: int
    nodes: int


@dataclass(frozen=True)
class Priced:
    """A codec, what it costs, and where that comes from. `failed` says why there is no cost."""

    codec: Codec
    cost: CodecCost | None
    source: str
    failed: str = ""


Price = Callable[[Codec], Priced]


def by_table_or_measuring(call: Call) -> Price:
    """What a program goes by: this machine's table, else what it measures at its start."""
    message = call.operation == "send"
    nbytes = MESSAGE_SAMPLE if message else COLLECTIVE_SAMPLE
    # One cost stands for all messages of a codec.
    dtype = "f32" if message else call.dtype

    def price(codec: Codec) -> Priced:
        known = find_here(codec, dtype, nbytes)
        if known is not None:
            return Priced(codec, known, f"this machine's table, {own_path()}")
        try:
            measured = codec.measure(dtype, nbytes)
        except ThinwireError as error:
            return Priced(codec, None, "", str(error))
        return Priced(codec, measured, "measured now on generated data")

    return price


def by_file(path: Path, call: Call) -> Price:
    """Ratio and speed on samples of a file. ValueError if it has no values of that type."""
    pieces = _pieces_of(path, call)
    nbytes = sum(piece.nbytes for piece in pieces)
    source = f"measured now on {nbytes} bytes of {path.name}, in {len(pieces)} pieces"

    def price(codec: Codec) -> Priced:
        try:
            return Priced(codec, _cost_on(codec, pieces, call.dtype), source)
        except ThinwireError as error:
            return Priced(codec, None, "", str(error))

    return price


def _pieces_of(path: Path, call: Call) -> list[np.ndarray]:
    """Pieces from places all over the file. One of raw values is not read as a whole."""
    values = array_files.line(path, call.dtype)
    count = values.size
    if count == 0:
        raise ValueError(f"{path.name} has no value of {call.dtype}")
    length = min(count, max(1, min(call.bytes, PIECE_BYTES) // values.itemsize))
    number = max(1, min(PIECES, count // length))
    starts = [at * (count - length) // max(1, number - 1) for at in range(number)]
    return [np.array(values[start : start + length]) for start in starts]


def _cost_on(codec: Codec, pieces: list[np.ndarray], dtype: str) -> CodecCost:
    raw = encoded = 0
    encode_seconds = decode_seconds = 0.0
    for piece in pieces:
        buffers = FrameBuffers(codec, piece, dtype)
        encode_seconds += fastest(buffers.encode, RUNS)
        decode_seconds += fastest(buffers.decode, RUNS)
        raw, encoded = raw + piece.nbytes, encoded + len(buffers.frame)
    return CodecCost(raw / encode_seconds, raw / decode_seconds, raw / encoded)
