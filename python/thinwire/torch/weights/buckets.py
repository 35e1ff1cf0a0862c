"""Tensors cut into buckets: a row of elements of one width, each piece beginning at a multiple of 8
bytes; what lies between two pieces belongs to none and is zero."""

from dataclasses import dataclass, field
from typing import Any

import torch

from thinwire.torch.weights.checksum import sum_of
from thinwire.torch.weights.errors import Damaged
from thinwire.torch.weights.tensors import INTEGERS, Entry

_ALL = (1 << 64) - 1


@dataclass(frozen=True)
class Piece:
    """Elements `low` to `high` of a tensor, in the order of its indices, which lie from element
    `at` of the bucket on."""

    bits: Any
    low: int
    high: int
    at: int

    @property
    def end(self) -> int:
        return self.at + self.high - self.low

    def read(self, device: Any) -> Any:
        """Flat; a view if it can be."""
        block, before = self._block()
        flat = block.reshape(-1)[before : before + self.high - self.low]
        return flat.to(device)

    def write(self, values: Any) -> None:
        block, before = self._block()
        flat = block.reshape(-1)
        flat[before : before + self.high - self.low].copy_(values)
        if not block.is_contiguous():
            block.copy_(flat.view(block.shape))

    def take(self, positions: Any) -> Any:
        """The elements at these positions of the bucket."""
        within = self._within(positions)
        if self.bits.is_contiguous():
            return self.bits.view(-1).index_select(0, within).to(positions.device)
        return self.bits[torch.unravel_index(within, self.bits.shape)].to(positions.device)

    def put(self, positions: Any, values: Any) -> None:
        within, values = self._within(positions), values.to(self.bits.device)
        if self.bits.is_contiguous():
            # No position comes twice.
            self.bits.view(-1).scatter_(0, within, values)
        else:
            self.bits[torch.unravel_index(within, self.bits.shape)] = values

    def _within(self, positions: Any) -> Any:
        """The positions as the tensor's own."""
        shift = self.low - self.at
        return (positions + shift if shift else positions).to(self.bits.device)

    def _block(self) -> tuple[Any, int]:
        """The rows of the tensor that hold the piece, and how many elements come before it there:
        a copy that strides enforce is then no larger than needed."""
        if self.bits.dim() == 0 or self.bits.is_contiguous():
            return self.bits, self.low
        inner = self.bits.numel() // self.bits.shape[0]
        begin, end = self.low // inner, -(-self.high // inner)
        return self.bits[begin:end], self.low - begin * inner


@dataclass
class Bucket:
    width: int
    pieces: list[Piece] = field(default_factory=list)

    @property
    def elements(self) -> int:
        """The last piece's end."""
        return self.pieces[-1].end

    @property
    def nbytes(self) -> int:
        return self.elements * self.width

    @property
    def dtype(self) -> Any:
        return INTEGERS[self.width]

    def gather(self, out: Any) -> Any:
        """All elements, in a flat tensor."""
        end = 0
        for piece in self.pieces:
            out[end : piece.at].zero_()
            out[piece.at : piece.end].copy_(piece.read(piece.bits.device), non_blocking=True)
            end = piece.end
        return out

    def scatter(self, values: Any) -> None:
        for piece in self.pieces:
            piece.write(values[piece.at : piece.end])

    def checksum(self, device: Any) -> int:
        """Of the tensors' present bits."""
        total = torch.zeros((), dtype=torch.int64, device=device)
        for piece in self.pieces:
            total += sum_of(piece.read(device), piece.at * self.width)
        return int(total) & _ALL

    def parts(self, positions: Any) -> list[tuple[Piece, int, int]]:
        """Which of the ascending positions lie in which piece; Damaged if one lies in none."""
        device = positions.device
        edges = [edge for piece in self.pieces for edge in (piece.at, piece.end)]
        cuts = torch.searchsorted(positions, torch.tensor(edges, device=device)).tolist()
        found = [
            (piece, cuts[2 * at], cuts[2 * at + 1])
            for at, piece in enumerate(self.pieces)
            if cuts[2 * at] < cuts[2 * at + 1]
        ]
        if sum(end - begin for _, begin, end in found) != positions.numel():
            raise Damaged("a position between two tensors")
        return found

    def take(self, positions: Any) -> Any:
        """The tensors' elements there; Damaged as parts()."""
        taken = [piece.take(positions[a:b]) for piece, a, b in self.parts(positions)]
        empty = torch.empty(0, dtype=self.dtype, device=positions.device)
        return torch.cat(taken) if taken else empty

    def put(self, positions: Any, values: Any) -> None:
        for piece, a, b in self.parts(positions):
            piece.put(positions[a:b], values[a:b])


def cut(entries: list[Entry], most_bytes: int) -> list[Bucket]:
    """Buckets of at most so many bytes, a multiple of 8; entries are in order of their widths."""
    buckets: list[Bucket] = []
    for entry in entries:
        low, count = 0, entry.bits.numel()
        each = 8 // entry.width
        while low < count:
            bucket = buckets[-1] if buckets else None
            at = -(-bucket.elements // each) * each if bucket else 0
            room = most_bytes // entry.width - at
            if bucket is None or bucket.width != entry.width or room <= 0:
                bucket, at, room = Bucket(entry.width), 0, most_bytes // entry.width
                buckets.append(bucket)
            high = min(count, low + room)
            bucket.pieces.append(Piece(entry.bits, low, high, at))
            low = high
    return buckets
