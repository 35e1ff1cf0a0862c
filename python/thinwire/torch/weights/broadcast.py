"""A bucket by torch's broadcast, without a record, for syncs in which sending changes alone does
not pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from thinwire.torch.weights.buckets import Bucket, Piece

# Pieces from this size on go by themselves, from and to where they lie if they can.
_LARGE = 256 << 10


@dataclass(frozen=True)
class Message:
    """`payload` is bytes on the device: the piece's own, or, if `is_staged`, room for all pieces,
    one after another."""

    pieces: Sequence[Piece]
    payload: Any
    is_staged: bool

    def stage(self) -> None:
        """The source's bits into the room."""
        for piece, part in self._parts():
            part.copy_(piece.read(part.device))

    def apply(self) -> None:
        """What has come into the tensors."""
        for piece, part in self._parts():
            piece.write(part)

    def _parts(self) -> list[tuple[Piece, Any]]:
        if not self.is_staged:
            return []
        sizes = [piece.high - piece.low for piece in self.pieces]
        values = self.payload.view(self.pieces[0].bits.dtype)
        return list(zip(self.pieces, values.split(sizes), strict=True))


def messages_of(bucket: Bucket, room: Any, device: Any) -> list[Message]:
    """Sizes alone say which there are, so that ranks whose tensors lie otherwise have the same.
    `room` has the bytes that room_for() says."""
    messages, at = [], 0
    for pieces in _grouped(bucket):
        payload = _in_place(pieces, device)
        is_staged = payload is None
        if is_staged:
            payload = room[at : at + _bytes_of(pieces)]
            at += payload.numel()
        messages.append(Message(pieces, payload, is_staged))
    return messages


def room_for(buckets: Sequence[Bucket], device: Any) -> int:
    staged = (
        sum(_bytes_of(pieces) for pieces in _grouped(bucket) if _in_place(pieces, device) is None)
        for bucket in buckets
    )
    return max(staged, default=0)


def _grouped(bucket: Bucket) -> list[list[Piece]]:
    large = [[piece] for piece in bucket.pieces if _bytes_of([piece]) >= _LARGE]
    small = [piece for piece in bucket.pieces if _bytes_of([piece]) < _LARGE]
    return [*large, small] if small else large


def _bytes_of(pieces: Sequence[Piece]) -> int:
    return sum((piece.high - piece.low) * piece.bits.element_size() for piece in pieces)


def _in_place(pieces: Sequence[Piece], device: Any) -> Any:
    """The bytes of a piece where they lie; None if they must be moved."""
    bits = pieces[0].bits
    if len(pieces) > 1 or bits.device != device or not bits.is_contiguous():
        return None
    return bits.view(-1)[pieces[0].low : pieces[0].high].view(torch.uint8)
