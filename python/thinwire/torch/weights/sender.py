"""The source's side: what it keeps of the last sync, and the records that it makes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from thinwire import compress
from thinwire.torch.weights.buckets import Bucket
from thinwire.torch.weights.checksum import checksum, growth
from thinwire.torch.weights.compare import advance, is_dense
from thinwire.torch.weights.positions import bytes_of_gaps, gaps_of, nonzero, pack
from thinwire.torch.weights.record import (
    FRAME_TYPES,
    UNIT,
    Header,
    Kind,
    lent,
    stream_of,
    values_bytes,
)

KEEPS = ("host", "device", "nothing")
# From this share of changed elements on differences are encoded, and sums taken anew.
DENSE = 0.05
_ALL = (1 << 64) - 1


@dataclass
class Kept:
    """What the receivers have of each bucket: checksums, and the elements if they are kept."""

    sums: dict[int, int] = field(default_factory=dict)
    elements: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sender:
    device: Any  # where payloads are made
    keep: str
    codec: str | None

    def record(
        self, bucket: Bucket, number: int, version: int, kept: Kept, is_full: bool
    ) -> tuple[Header, Any]:
        """The header and the payload, bytes on the device; `kept` has the new elements then."""
        if is_full or self.keep == "nothing":
            return self._without_base(bucket, number, version, kept, is_full)
        if self.codec is not None and is_dense(bucket, kept.elements[number], self.device):
            return self._dense(bucket, number, version, kept)
        positions, new, old = advance(bucket, kept.elements[number], self.device)
        count, base = positions.numel(), kept.sums[number]
        frame = None
        if count > DENSE * bucket.elements:
            result = checksum(self._elements(bucket, number, kept))
            if self.codec is not None:
                difference = torch.zeros(bucket.elements, dtype=bucket.dtype, device=self.device)
                frame = self._frame(bucket, difference.scatter_(0, positions, new ^ old))
        else:
            result = (base + growth(positions, new, old)) & _ALL
        kept.sums[number] = result
        made = self._smallest(bucket, count, frame, lambda: (positions, new))
        header = Header(number, version, Kind.SAME, 0, count, base, result, 0)
        return self._finish(bucket, kept, header, *made)

    def _dense(self, bucket: Bucket, number: int, version: int, kept: Kept) -> tuple[Header, Any]:
        """The same for a bucket of which most changes, without a list of positions."""
        out = torch.empty(bucket.elements, dtype=bucket.dtype, device=self.device)
        new = bucket.gather(out)
        difference = new ^ kept.elements[number].to(self.device)
        count, base, result = int(torch.count_nonzero(difference)), kept.sums[number], checksum(new)
        kept.elements[number], kept.sums[number] = self._kept(new), result

        def changes() -> tuple[Any, Any]:
            positions = nonzero(difference != 0)
            return positions, new[positions]

        made = self._smallest(bucket, count, self._frame(bucket, difference), changes)
        header = Header(number, version, Kind.SAME, 0, count, base, result, 0)
        return self._finish(bucket, kept, header, *made)

    def _finish(
        self, bucket: Bucket, kept: Kept, header: Header, kind: Kind, payload: Any
    ) -> tuple[Header, Any]:
        if kind == Kind.SAME:
            return header, payload
        if payload is None:
            payload, total = self.whole(bucket, header.number, kept), header.result
        else:
            total = checksum(payload)
        return replace(header, kind=kind, payload=payload.numel(), sum=total), payload

    def whole(self, bucket: Bucket, number: int, kept: Kept) -> Any:
        """All bytes of a bucket whose new elements are kept, or are read again."""
        return self._elements(bucket, number, kept).view(torch.uint8)

    def _elements(self, bucket: Bucket, number: int, kept: Kept) -> Any:
        if number in kept.elements:
            return kept.elements[number].to(self.device)
        out = torch.empty(bucket.elements, dtype=bucket.dtype, device=self.device)
        return bucket.gather(out)

    def _nothing(self) -> Any:
        return torch.empty(0, dtype=torch.uint8, device=self.device)

    def _without_base(
        self, bucket: Bucket, number: int, version: int, kept: Kept, is_full: bool
    ) -> tuple[Header, Any]:
        """The whole bucket, or nothing if its checksum is the one before."""
        out = torch.empty(bucket.elements, dtype=bucket.dtype, device=self.device)
        elements = bucket.gather(out)
        if self.keep != "nothing":
            kept.elements[number] = self._kept(elements)
        payload, result = elements.view(torch.uint8), checksum(elements)
        base = 0 if is_full else kept.sums[number]
        kept.sums[number] = result
        if not is_full and base == result:
            return Header(number, version, Kind.SAME, 0, 0, base, result, 0), payload[:0]
        count, size = bucket.elements, payload.numel()
        return Header(number, version, Kind.WHOLE, size, count, base, result, result), payload

    def _kept(self, elements: Any) -> Any:
        """The same memory, or a pinned copy on the host, complete after the next wait for the
        stream."""
        if self.keep == "device" or self.device.type == "cpu":
            return elements
        host = torch.empty(elements.shape, dtype=elements.dtype, pin_memory=True)
        return host.copy_(elements, non_blocking=True)

    def _smallest(
        self, bucket: Bucket, count: int, frame: Any, changes: Callable[[], tuple[Any, Any]]
    ) -> tuple[Kind, Any]:
        """The kind that takes the fewest bytes, and its payload; None for the whole bucket's.
        `changes` gives the `count` positions and new values."""
        if not count:
            return Kind.SAME, self._nothing()
        filled = values_bytes(count, bucket.width)
        best, payload = (bucket.nbytes, Kind.WHOLE), None
        if frame is not None and frame.numel() < best[0]:
            best, payload = (frame.numel(), Kind.XOR), frame
        if filled + count >= best[0]:
            return best[1], payload
        positions, new = changes()
        gaps = gaps_of(positions)
        for kind, size in zip(UNIT, bytes_of_gaps(gaps), strict=True):
            best = min(best, (filled + size, kind))
        if best[1] not in UNIT:
            return best[1], payload
        payload = torch.zeros(best[0], dtype=torch.uint8, device=self.device)
        payload[: count * bucket.width] = new.view(torch.uint8)
        payload[filled:] = pack(gaps, UNIT[best[1]])
        return best[1], payload

    def _frame(self, bucket: Bucket, difference: Any) -> Any:
        """The frame of what all elements are xored with."""
        frame = compress(
            lent(difference),
            self.codec,  # type: ignore[arg-type]
            dtype=FRAME_TYPES[bucket.width],
            stream=stream_of(difference),
        )
        if isinstance(frame, bytes):
            return torch.frombuffer(bytearray(frame), dtype=torch.uint8)
        return torch.as_tensor(frame, device=self.device).clone()


def failed(number: int, version: int) -> Header:
    return Header(number, version, Kind.FAILED, 0, 0, 0, 0, 0)
