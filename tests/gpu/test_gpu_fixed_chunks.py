"""Whole chunks that expack:mode=fixed writes, which a GPU decodes in registers, between chunks of
other sorts; and damaged ones, of which the CPU says the same."""

from collections.abc import Iterator

import frame_bytes as fb
import numpy as np
import pytest
from gpu_calls import DeviceBuffer, decode, decode_on_host, encode_on_host, options_struct
from gpu_data import make

from thinwire import Codec
from thinwire.library import library

CHUNK = 8192
CHUNKS = 128  # below this chunks are smaller
FIXED_BYTES = {"bf16": 11312, "f16": 14384}  # of a payload, but for raw exponents
SORTS = ("smooth", "spread", "kind 2", "masked", "zeros", "raw", "wide")


def chunk_of(sort: str, dtype: str, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    kind = {"spread": "spread", "raw": "random", "zeros": "zeros"}.get(sort, "smooth")
    values = make(kind, dtype, (CHUNK,), seed).copy()
    if sort == "kind 2":  # too few zeros for a mask
        values[random.random(CHUNK) < 0.08] = 0
    if sort == "masked":
        values[random.random(CHUNK) < 0.3] = 0
    if sort == "wide":  # exponents that have no code in one lane of one stretch only
        values[2048 + 8 : 2048 + 16] = make("random", dtype, (8,), seed)
    return values


def array_of(sorts: list[str], dtype: str, more: int = 0) -> np.ndarray:
    chunks = [chunk_of(sorts[at % len(sorts)], dtype, at) for at in range(CHUNKS)]
    return np.concatenate([*chunks, make("smooth", dtype, (more,))])


def frame_of(values: np.ndarray, dtype: str, checksums: bool, mode: str = "fixed") -> np.ndarray:
    flags = 0 if checksums else library().TW_MESSAGE_NO_CHECKSUM
    codec = Codec(f"expack:mode={mode}")
    status, frame = encode_on_host(codec, dtype, values.shape, values, flags)
    assert status == 0
    return frame.copy()


def check(frame: np.ndarray, nbytes: int, offsets: tuple[int, int] = (0, 0)) -> int:
    """The GPU's status, which is the CPU's, and so are the values; `offsets` shift the frame and
    the array."""
    status, expected = decode_on_host(frame, nbytes)
    out = DeviceBuffer(nbytes, offsets[1])
    source = DeviceBuffer(frame, offsets[0])
    assert decode(source.address, frame.size, out.address, nbytes) == status
    contents = out.read()
    if status == 0:
        assert np.array_equal(contents, expected)
    return status


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("sort", SORTS)
def test_chunks_of_one_sort(sort: str, dtype: str) -> None:
    # An array that does not shrink is another codec's.
    values = array_of(["raw", "smooth"] if sort == "raw" else [sort], dtype)
    for checksums in (True, False):
        frame = frame_of(values, dtype, checksums)
        assert check(frame, values.nbytes) == 0
    size = len(fb.payloads_of(frame)[0])
    assert (sort in ("masked", "zeros")) == (size < FIXED_BYTES[dtype])
    assert (sort == "raw") == (size == 2 * CHUNK)


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_chunks_of_all_sorts(dtype: str) -> None:
    for others in (1, 40):  # how many smooth chunks come before one of another sort
        sorts = [each for sort in SORTS for each in (*["smooth"] * others, sort)]
        for more in (0, 1, 77, 4096):
            values = array_of(sorts, dtype, more)
            assert check(frame_of(values, dtype, checksums=True), values.nbytes) == 0


@pytest.mark.parametrize("mode", ["auto", "entropy"])
def test_other_kinds_in_a_frame_that_says_fixed(mode: str) -> None:
    """A decoder takes any kind under each parameter."""
    for sorts in (["smooth"], ["spread", "smooth"], ["zeros", "smooth", "smooth"], list(SORTS)):
        values = array_of(sorts, "bf16")
        frame = frame_of(values, "bf16", checksums=True, mode=mode)
        fb.put(frame, fb.PARAMETER_AT, 1, 8)
        fb.reseal(frame)
        assert check(frame, values.nbytes) == 0


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_any_alignment(dtype: str) -> None:
    values = array_of(["smooth", "spread", "smooth", "masked"], dtype, 5)
    frame = frame_of(values, dtype, checksums=True)
    for offsets in ((1, 0), (4, 0), (8, 0), (0, 1), (0, 2), (0, 8), (0, 16), (8, 16), (3, 5)):
        assert check(frame, values.nbytes, offsets) == 0


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("scale", [0, 0.25])
def test_into_a_sum(scale: float, dtype: str) -> None:
    sorts = ["smooth"] * 40
    values = array_of([*sorts, "masked", *sorts, "kind 2"], dtype, 9)
    frame = frame_of(values, dtype, checksums=True)
    options = options_struct(library().TW_MESSAGE_ADD)
    options.scale = scale
    there = make("smooth", dtype, values.shape, seed=7)
    for offset in (0, 2):
        expected, out = there.copy(), DeviceBuffer(there, offset)
        for source, target in (
            (frame.ctypes.data, expected.ctypes.data),
            (DeviceBuffer(frame).address, out.address),
        ):
            assert decode(source, frame.size, target, values.nbytes, options) == 0
        assert np.array_equal(out.read(), expected.view(np.uint8))
        assert not np.array_equal(expected, there)


# ---- Damage ----


def payload_at(frame: np.ndarray, index: int) -> tuple[int, int]:
    """Where a chunk's payload begins, and its size."""
    table = fb.header_bytes(frame)
    sizes = [fb.get(frame, table + 8 * each, 4) & ~fb.RAW_CHUNK for each in range(CHUNKS)]
    return table + 8 * CHUNKS + sum(sizes[:index]), sizes[index]


def changed(frame: np.ndarray, places: dict[int, int]) -> np.ndarray:
    """A copy with these bytes xored."""
    copy = frame.copy()
    for place, bits in places.items():
        copy[place] ^= bits
    return copy


def damaged_heads(frame: np.ndarray, index: int) -> Iterator[np.ndarray]:
    begin, _ = payload_at(frame, index)
    for bit in range(8 * (16 + 32)):  # of head and bases
        yield changed(frame, {begin + bit // 8: 1 << bit % 8})
    for base in (246, 247, 255):  # the largest one of bf16, and larger ones
        copy = frame.copy()
        copy[begin + 16 + 31] = base
        yield copy


def with_counts(frame: np.ndarray, index: int, moves: tuple[int, ...]) -> np.ndarray:
    """One whose stretches have so many raw exponents more than there are."""
    copy, (begin, _) = frame.copy(), payload_at(frame, index)
    for stretch, by in enumerate(moves):
        word = fb.get(copy, begin + 4 * stretch, 4)
        fb.put(copy, begin + 4 * stretch, (word + (by << 17)) % (1 << 32), 4)
    return copy


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_changed_heads(dtype: str) -> None:
    values = array_of(["smooth", "kind 2"], dtype)
    frame = frame_of(values, dtype, checksums=False)
    statuses = [check(each, values.nbytes) for each in damaged_heads(frame, 1)]
    assert 0 in statuses and library().TW_DAMAGED in statuses  # some bases are as good
    for moves in ((1, 1, 1, 1), (1, 0, 0, 0), (0, -1, 0, 0), (0, 0, 5000, 0), (0, 0, 0, 8)):
        each = with_counts(frame, 0, moves)
        assert check(each, values.nbytes) == library().TW_DAMAGED, moves


@pytest.mark.parametrize("checksums", [True, False])
@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_changed_bytes(dtype: str, checksums: bool) -> None:
    """One in each part of the payload, and near its ends; with checksums none is taken."""
    values = array_of(["spread" if dtype == "bf16" else "wide", "smooth"], dtype)
    frame = frame_of(values, dtype, checksums)
    for index in (0, CHUNKS - 1):
        begin, size = payload_at(frame, index)
        ends = {at + by for at in (48, 8240, 10288, FIXED_BYTES[dtype], size) for by in (-1, 0, 1)}
        for at in sorted({*range(0, size, 331), *ends} & set(range(size))):
            status = check(changed(frame, {begin + at: 1 << at % 8}), values.nbytes)
            assert status == library().TW_DAMAGED or not checksums, at


def test_changed_sizes() -> None:
    values = array_of(["smooth", "spread"], "bf16")
    for checksums in (True, False):
        frame = frame_of(values, "bf16", checksums)
        row = fb.header_bytes(frame)
        for by in (-8, -1, 1, 8, 4096, -11312):
            copy = frame.copy()
            for at, step in ((row, by), (row + 8, -by)):
                fb.put(copy, at, (fb.get(copy, at, 4) + step) % (1 << 32), 4)
            assert check(copy, values.nbytes) == library().TW_DAMAGED, by
        for flag_at in (row, row + 8 * (CHUNKS - 1)):
            copy = frame.copy()
            fb.put(copy, flag_at, fb.get(copy, flag_at, 4) | fb.RAW_CHUNK, 4)
            assert check(copy, values.nbytes) == library().TW_DAMAGED
        for length in (row + 8 * CHUNKS - 1, row + 8 * CHUNKS, frame.size // 2, frame.size - 1):
            assert check(frame[:length].copy(), values.nbytes) == library().TW_DAMAGED


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_longer_and_shorter_payloads(dtype: str) -> None:
    """All sums are right, but for what the head says."""
    values = array_of(["wide", "smooth"], dtype)
    payloads = fb.payloads_of(frame_of(values, dtype, checksums=True))
    for index in (0, 1):
        own = payloads[index]
        for other in (own, own + bytes(8), own[:-8], own[:-1], own[: FIXED_BYTES[dtype]], own[:15]):
            changed_list = [*payloads[:index], other, *payloads[index + 1 :]]
            frame = fb.build("expack", dtype, values.shape, 1, changed_list)
            status = check(frame, values.nbytes)
            assert (status == 0) == (other == own), len(other)
            assert status in (0, library().TW_DAMAGED)


def test_a_good_frame_decodes_after_damaged_ones() -> None:
    """The workspace is as it was."""
    values = array_of(["smooth", "masked", "smooth"], "bf16")
    frame = frame_of(values, "bf16", checksums=True)
    begin, _ = payload_at(frame, CHUNKS // 2)
    for each in (frame, changed(frame, {begin + 5000: 4})) * 3:
        status = check(each, values.nbytes)
        assert (status == 0) == (each is frame)
