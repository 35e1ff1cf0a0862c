"""The record of a bucket (spec/weights.md): a header of 80 bytes, and a payload."""

import struct
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import torch

from thinwire import decompress, inspect
from thinwire.library import ThinwireError
from thinwire.torch.weights.checksum import checksum, mix
from thinwire.torch.weights.errors import Damaged
from thinwire.torch.weights.positions import unpack
from thinwire.torch.weights.tensors import INTEGERS

MARK = int.from_bytes(b"tw wght1", "little")
_WORDS = struct.Struct("<10Q")
HEADER_BYTES = _WORDS.size
# The type that frames of differences are of, by the bytes of an element.
FRAME_TYPES = {1: "e4m3", 2: "bf16", 4: "f32", 8: "f64"}


class Kind(IntEnum):
    SAME = 0
    GAPS8 = 1
    GAPS16 = 2
    XOR = 3
    WHOLE = 4
    FAILED = 255  # the source could not make the record: all ranks give up


UNIT = {Kind.GAPS8: 1, Kind.GAPS16: 2}


@dataclass(frozen=True)
class Header:
    number: int
    version: int
    kind: Kind
    payload: int  # bytes
    changed: int  # elements
    base: int  # the bucket's checksum before, and after
    result: int
    sum: int  # the payload's checksum

    def pack(self) -> bytes:
        sizes = (MARK, self.number, self.version, int(self.kind), self.payload, self.changed)
        words = (*sizes, self.base, self.result, self.sum)
        return _WORDS.pack(*words, _own_sum(words))

    def as_whole(self, nbytes: int) -> "Header":
        """The header of the same bucket's bytes, whatever this one's payload is."""
        return replace(self, kind=Kind.WHOLE, payload=nbytes, sum=self.result)


@dataclass(frozen=True)
class Change:
    """What a record says, checked: `values` are all elements, or those at `positions`, or, if
    `is_difference`, what all elements are xored with; None if nothing changes."""

    values: Any = None
    positions: Any = None
    is_difference: bool = False


def read_header(data: bytes, number: int, version: int, elements: int, width: int) -> Header:
    """The header of bucket `number`, which has so many elements; Damaged for another one."""
    if len(data) != HEADER_BYTES:
        raise Damaged(f"a header of {len(data)} bytes")
    mark, *words, own = _WORDS.unpack(data)
    if mark != MARK:
        raise Damaged("no header of a bucket")
    if own != _own_sum((mark, *words)):
        raise Damaged("a header whose checksum is wrong")
    try:
        kind = Kind(words[2])
    except ValueError:
        raise Damaged(f"kind {words[2]} is not known") from None
    header = Header(words[0], words[1], kind, *words[3:])
    if (header.number, header.version) != (number, version):
        raise Damaged(f"bucket {header.number} of version {header.version}: {number} of {version}")
    _check_sizes(header, elements, width)
    return header


def _check_sizes(header: Header, elements: int, width: int) -> None:
    kind, nbytes, changed = header.kind, elements * width, header.changed
    least, most = 0, 0
    if kind == Kind.WHOLE:
        least = most = nbytes
    elif kind == Kind.XOR:
        least, most = 1, nbytes - 1
    elif kind in UNIT:
        least = values_bytes(changed, width) + changed * UNIT[kind]
        most = nbytes - 1
    if not least <= header.payload <= most or changed > elements:
        raise Damaged(f"{header.payload} bytes of kind {kind.name} for a bucket of {nbytes}")
    if kind == Kind.SAME and (changed or header.base != header.result):
        raise Damaged("a bucket that stays the same and does not")


def values_bytes(count: int, width: int) -> int:
    """The bytes of so many values, filled up to a multiple of 8."""
    return -(-count * width // 8) * 8


def decode(header: Header, payload: Any, elements: int, width: int) -> Change:
    """What `payload`, a tensor of bytes whose header read_header() gave, says of a bucket; Damaged
    if it is no payload of that header. It changes nothing."""
    if payload.numel() != header.payload:
        raise Damaged(f"{payload.numel()} bytes of {header.payload}")
    if header.kind == Kind.SAME:
        return Change()
    words = payload.view(INTEGERS[width]) if header.kind == Kind.WHOLE else payload
    if checksum(words) != header.sum:
        raise Damaged("a payload whose checksum is wrong")
    if header.kind == Kind.WHOLE:
        return Change(words)
    if header.kind == Kind.XOR:
        return Change(_difference(payload, elements, width), is_difference=True)
    if header.kind not in UNIT:
        raise Damaged(f"a payload of kind {header.kind.name}")
    end, filled = header.changed * width, values_bytes(header.changed, width)
    if bool(payload[end:filled].any()):
        raise Damaged("bytes between values and gaps")
    positions = unpack(payload[filled:], UNIT[header.kind], header.changed, elements)
    return Change(payload[:end].view(INTEGERS[width]), positions)


def _difference(payload: Any, elements: int, width: int) -> Any:
    difference = torch.empty(elements * width, dtype=torch.uint8, device=payload.device)
    try:
        info = inspect(lent(payload), stream=stream_of(payload))
        if info.dtype != FRAME_TYPES[width] or tuple(info.shape) != (elements,):
            raise Damaged(f"a frame of {info.dtype} {tuple(info.shape)}")
        decompress(lent(payload), out=lent(difference), stream=stream_of(payload))
    except ThinwireError as error:
        raise Damaged(f"a frame that does not decode: {error}") from None
    return difference.view(INTEGERS[width])


def lent(tensor: Any) -> Any:
    """The tensor as arrays that `thinwire` takes: numpy's of a host."""
    return tensor.numpy() if tensor.device.type == "cpu" else tensor


def stream_of(tensor: Any) -> Any:
    """The stream that orders the work on it; None on a host."""
    return torch.cuda.current_stream(tensor.device) if tensor.is_cuda else None


def _own_sum(words: tuple[int, ...]) -> int:
    total = 0
    for word in words:
        total = mix(((total ^ word) + 0x9E3779B97F4A7C15) & ((1 << 64) - 1))
    return total
