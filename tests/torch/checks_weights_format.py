"""One rank: records of spec/weights.md as bytes, sound and hostile; the page's examples."""

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from training import raises
from weights_data import INTEGERS, random_bits

from thinwire.torch.weights import checksum as summed
from thinwire.torch.weights.buckets import Bucket, Piece, cut
from thinwire.torch.weights.checksum import checksum, growth
from thinwire.torch.weights.compare import advance_anywhere, advance_on_host, is_dense
from thinwire.torch.weights.errors import Damaged
from thinwire.torch.weights.positions import bytes_of_gaps, gaps_of, pack, unpack
from thinwire.torch.weights.receiver import apply
from thinwire.torch.weights.record import HEADER_BYTES, Header, Kind, read_header
from thinwire.torch.weights.sender import Kept, Sender
from thinwire.torch.weights.tensors import tensors_of

HOST = torch.device("cpu")
COUNT = 5000


def bucket_of(width: int, seed: int = 1) -> Bucket:
    data = random_bits(COUNT * width, torch.uint8, seed).view(INTEGERS[width])
    (bucket,) = cut(
        tensors_of({"one": data[: COUNT // 2], "two": data[COUNT // 2 :]}).entries, 1 << 20
    )
    return bucket


def records(width: int) -> list[tuple[Header, Any, Bucket]]:
    """One of each kind, and the bucket that it is for."""
    found = []
    for kind, share in ((1, 0.01), (2, 0.001), (3, 0.5), (4, 1.0), (0, 0.0)):
        source, live, kept = bucket_of(width), bucket_of(width), Kept()
        sender = Sender(HOST, "host", "ans" if kind == Kind.XOR else None)
        sender.record(source, 0, 1, kept, True)
        made = torch.Generator().manual_seed(9)
        for piece in source.pieces:
            flips = torch.rand(piece.bits.shape, generator=made) < share
            piece.bits.bitwise_xor_(flips.to(source.dtype))
        header, payload = sender.record(source, 0, 2, kept, False)
        assert header.kind == kind, (header, width)
        apply(live, header, payload)
        assert live.checksum(HOST) == header.result == source.checksum(HOST)
        assert torch.equal(whole(live), whole(source))
        found.append((header, payload.clone(), bucket_of(width)))
    return found


def the_smallest_is_sent(_: Path) -> None:
    """Where many elements change: to random bits, which no codec makes small, or in their last."""
    for share, flip, kind in (
        (0.15, None, Kind.GAPS8),
        (0.15, 1, Kind.XOR),
        (1.0, None, Kind.WHOLE),
    ):
        source, live, kept = bucket_of(8), bucket_of(8), Kept()
        sender = Sender(HOST, "host", "ans")
        sender.record(source, 0, 1, kept, True)
        made = torch.Generator().manual_seed(9)
        for at, piece in enumerate(source.pieces):
            where = torch.rand(piece.bits.shape, generator=made) < share
            flips = random_bits(8 * piece.bits.numel(), torch.uint8, at).view(torch.int64)
            piece.bits.bitwise_xor_(torch.where(where, flips if flip is None else flip, 0))
        assert is_dense(source, kept.elements[0], HOST)
        header, payload = sender.record(source, 0, 2, kept, False)
        assert header.kind == kind and payload.numel() <= source.nbytes, header
        apply(live, header, payload)
        assert torch.equal(whole(live), whole(source))
        assert torch.equal(kept.elements[0], whole(source))


def whole(bucket: Bucket) -> Any:
    return bucket.gather(torch.empty(bucket.elements, dtype=bucket.dtype))


def refused(data: bytes, payload: Any, bucket: Bucket) -> bool:
    """As a receiver does it; if not refused, the bucket has the header's result."""
    before = whole(bucket)
    try:
        header = read_header(data, 0, 2, bucket.elements, bucket.width)
        apply(bucket, header, payload)
    except Damaged:
        assert torch.equal(whole(bucket), before), "a bucket was written and then refused"
        return True
    assert bucket.checksum(HOST) == header.result
    return False


def cut_changed_and_random_bytes(_: Path) -> None:
    made = torch.Generator().manual_seed(5)

    def below(most: int) -> int:
        return int(torch.randint(0, most, (), generator=made))

    for width in (1, 2, 4, 8):
        for header, payload, bucket in records(width):
            data = header.pack()
            for at in range(HEADER_BYTES):
                changed = bytearray(data)
                changed[at] ^= 1 << below(8)
                assert refused(bytes(changed), payload, bucket), (header, at)
                assert refused(data[:at], payload, bucket)
            for _ in range(60 if payload.numel() else 0):
                changed_payload = payload.clone()
                changed_payload[below(payload.numel())] ^= 1 << below(8)
                assert refused(data, changed_payload, bucket), header
                assert refused(data, payload[: below(payload.numel())], bucket), header
            for _ in range(60):
                nbytes = below(3 * COUNT)
                noise = random_bits(nbytes, torch.uint8, below(1 << 30))
                # Its checksum is right, as whoever forges it can make it.
                for kind in Kind:
                    forged = replace(header, kind=kind, payload=nbytes, changed=below(COUNT + 9))
                    forged = replace(forged, sum=checksum(noise))
                    assert refused(forged.pack(), noise, bucket), forged


def forged(header: Header, payload: Any) -> tuple[bytes, Any]:
    return replace(header, payload=payload.numel(), sum=checksum(payload)).pack(), payload


def positions_that_there_are_not(_: Path) -> None:
    bucket = bucket_of(2)
    header = Header(0, 2, Kind.GAPS8, 0, 2, bucket.checksum(HOST), 0, 0)

    def of(gaps: list[int], filling: int = 0, changed: int = 2) -> tuple[bytes, Any]:
        payload = torch.tensor([1, 0, 2, 0, *(4 * [filling]), *gaps], dtype=torch.uint8)
        return forged(replace(header, changed=changed), payload)

    for gaps, filling, words in (
        ([0, 0], 1, "bytes between values and gaps"),
        ([0, 0, 0], 0, "3 gaps for 2"),
        ([0, 1, 255], 0, "does not end"),
        ([0, *(19 * [255]), 200], 0, "in a bucket of 5000"),
        ([0, 1], 0, "another checksum"),
    ):
        data, payload = of(gaps, filling)
        found = read_header(data, 0, 2, bucket.elements, 2)
        raises(Damaged, words, lambda f=found, p=payload: apply(bucket, f, p))
    data, payload = of([0, 0], changed=COUNT + 1)
    raises(Damaged, "bytes of kind GAPS8", lambda: read_header(data, 0, 2, bucket.elements, 2))
    # Two tensors of five elements, and three positions of none between them.
    apart = Bucket(2, [Piece(torch.zeros(5, dtype=torch.int16), 0, 5, at) for at in (0, 8)])
    data, payload = of([3, 2])
    found = read_header(data, 0, 2, apart.elements, 2)
    raises(Damaged, "between two tensors", lambda: apply(apart, found, payload))


def what_a_gpu_does_finds_the_same(_: Path) -> None:
    """The comparison by torch's operations, run on the host, against the host's own."""
    made = torch.Generator().manual_seed(2)
    for width in INTEGERS:
        for share in (0.0, 0.001, 0.2, 1.0):
            source = bucket_of(width)
            kept = [whole(source), whole(source)]
            for piece in source.pieces:
                flips = torch.rand(piece.bits.shape, generator=made) < share
                piece.bits.bitwise_xor_(flips.to(source.dtype) * 5)
            one = advance_on_host(source, kept[0])
            other = advance_anywhere(source, kept[1], HOST)
            assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True)), (width, share)
            assert torch.equal(kept[0], kept[1]) and torch.equal(kept[0], whole(source))


def gaps_come_back(_: Path) -> None:
    for unit in (1, 2):
        largest = (1 << 8 * unit) - 1
        for gaps in ([], [0], [largest], [largest - 1, largest, 0, 3 * largest, 2 * largest + 5]):
            positions = (torch.tensor(gaps, dtype=torch.int64) + 1).cumsum(0) - 1
            assert gaps_of(positions).tolist() == gaps
            data = pack(gaps_of(positions), unit)
            assert data.numel() == bytes_of_gaps(gaps_of(positions))[unit - 1]
            assert torch.equal(unpack(data, unit, len(gaps), 1 << 30), positions)


def the_checksum_is_the_pages(_: Path) -> None:
    """Word by word in Python's numbers, and at any offset; and it is linear."""
    all_bits = (1 << 64) - 1

    def mix(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & all_bits
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & all_bits
        return z ^ (z >> 31)

    def odd(number: int) -> int:
        return mix((number + 1) * 0x9E3779B97F4A7C15 & all_bits) | 1

    for nbytes in (0, 1, 7, 4096, 4 * 32768, 3 * 4 * 32768 + 1235):
        data = random_bits(nbytes, torch.uint8, 3)
        filled = data.numpy().tobytes() + bytes(-nbytes % 4)
        words = struct.unpack(f"<{len(filled) // 4}i", filled)
        for at in (0, 8, 4 * 32768 - 8):
            numbers = range(at // 4, at // 4 + len(words))
            wanted = sum(
                word * odd(number % 32768) * odd(32768 + number // 32768)
                for word, number in zip(words, numbers, strict=True)
            )
            assert checksum(data, at) == wanted & all_bits, (nbytes, at)
    for width, dtype in INTEGERS.items():
        old = random_bits(8 * 99999, torch.uint8, 4).view(dtype)
        new = old.clone()
        positions = torch.arange(5, new.numel(), 7)
        new[positions] ^= 77
        grown = growth(positions, new[positions], old[positions])
        assert (checksum(old) + grown - checksum(new)) & all_bits == 0, width
    data = random_bits(8 * 1234567, torch.uint8, 5).view(torch.int16)
    for at in (0, 4 * 32768 - 8):
        with patch.object(summed, "_takes_rows", lambda device: True):  # as on a GPU
            by_rows = checksum(data, at)
        assert by_rows == checksum(data, at)
    examples = torch.arange(256).to(torch.uint8)
    assert checksum(examples[:5]) == 0x9DFD8404CF8027EC
    assert checksum(examples.repeat(600)) == 0xB0604D1BC15C5428


CHECKS = [
    the_smallest_is_sent,
    what_a_gpu_does_finds_the_same,
    gaps_come_back,
    the_checksum_is_the_pages,
    positions_that_there_are_not,
    cut_changed_and_random_bytes,
]
