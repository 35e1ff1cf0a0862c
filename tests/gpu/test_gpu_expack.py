"""Whole chunks of bf16 under `expack:mode=fixed`, which have an encoder of their own on a GPU: its
frames are those of the CPU, whatever its chunks are and wherever they lie."""

import numpy as np
import pytest
from gpu_calls import DeviceBuffer, bound, encode, encode_on_host, options_struct, shape_struct

from thinwire import Codec
from thinwire.library import library

CHUNK, ROW, STRETCH = 8192, 256, 2048
# The fewest values of an array whose chunks are not the small ones.
LEAST = 1 << 20
MOST_RAW = 5064  # with more raw exponents a chunk is stored raw

CODEC = Codec("expack:mode=fixed")


def words(exponents: np.ndarray, seed: int = 0) -> np.ndarray:
    """Values of these exponents, with any sign and mantissa."""
    around = np.random.default_rng(seed).integers(0, 256, exponents.size).astype(np.uint16)
    return around & 0x7F | (around & 0x80) << 8 | exponents.astype(np.uint16) << 7


def usual(seed: int = 0) -> np.ndarray:
    """A chunk with some raw exponents in each stretch."""
    random = np.random.default_rng(seed)
    values = np.abs(random.standard_normal(CHUNK)) * np.repeat(
        2.0 ** random.integers(-20, 20, CHUNK // ROW), ROW
    )
    return words(np.frexp(values)[1] + 126, seed)


def with_raws(count: int, first: int = 0) -> np.ndarray:
    """A chunk of so many raw exponents, in rows from one on; others have few of them."""
    exponents = np.full((CHUNK // ROW, ROW), 100)
    for row in np.roll(np.arange(CHUNK // ROW), -first):
        # As many above the mean of the row as below.
        here = min(count, ROW - 2) // 2
        exponents[row, :here], exponents[row, here : 2 * here] = 40, 160
        count -= 2 * here
        if count % 2 == 1 and here < ROW // 4:
            exponents[row, -1] = 110
            count -= 1
    assert count == 0
    random = np.random.default_rng(first)
    return words(random.permuted(exponents, axis=1).reshape(-1))


def with_zeros(zeros: int, begin: int, end: int, zero: int = 0, seed: int = 3) -> np.ndarray:
    """The usual chunk, with `zero` in so many places between two."""
    values = usual(seed)
    places = np.random.default_rng(seed).permutation(np.arange(begin, end))[:zeros]
    values[places] = zero
    return values


RANDOM = np.random.default_rng(5).integers(0, 1 << 16, CHUNK).astype(np.uint16)
CHUNKS = {
    "zero in a row": with_zeros(1, 300, 301),
    "zeros of kind 0": with_zeros(127, 2048, 4096),
    "zeros of kind 2": with_zeros(128, 4096, 6144),
    "zeros of kind 2 everywhere": with_zeros(1000, 0, CHUNK),
    "a row of zeros": with_zeros(256, 512, 768),
    "no mask yet": with_zeros(1023, 0, CHUNK),
    "mask": with_zeros(1024, 0, CHUNK),
    "mask that keeps one": with_zeros(CHUNK - 1, 0, CHUNK),
    "zeros alone": np.zeros(CHUNK, np.uint16),
    "negative zeros": with_zeros(3000, 0, CHUNK, 0x8000),
    "subnormals": with_zeros(1500, 0, CHUNK, 5),
    "subnormals alone": np.full(CHUNK, 0x8001, np.uint16),
    "largest": np.full(CHUNK, 0x7F80, np.uint16),
    "random": RANDOM,
    "constant": np.full(CHUNK, 0x3F80, np.uint16),
    "least exponents": words(np.random.default_rng(6).integers(1, 7, CHUNK)),
    "largest exponents": words(np.random.default_rng(7).integers(247, 256, CHUNK)),
} | {
    f"{count} raw": with_raws(count, first)
    for count, first in [
        (0, 0), (1, 31), (7, 8), (8, 15), (9, 30), (257, 23), (5056, 1), (5057, 2),
        (MOST_RAW - 1, 3), (MOST_RAW, 4), (MOST_RAW + 1, 5), (CHUNK - 64, 0),
    ]
}  # fmt: skip


def check(
    values: np.ndarray, offsets: tuple[int, int] = (0, 0), flags: int = 0, times: int = 1
) -> np.ndarray:
    """Encodes on both sides; `offsets` shift the array and the frame. Returns the frame."""
    shape = shape_struct("bf16", values.shape)
    status, expected = encode_on_host(CODEC, "bf16", values.shape, values, flags)
    assert status == 0
    source, frame = DeviceBuffer(values, offsets[0]), DeviceBuffer(bound(CODEC, shape), offsets[1])
    for _ in range(times):
        status, written = encode(
            CODEC, shape, source.address, frame.address, frame.nbytes, options_struct(flags)
        )
        assert status == 0
        assert np.array_equal(frame.read()[:written], expected)
    return expected


def payloads(frame: np.ndarray, count: int) -> list[tuple[bool, np.ndarray]]:
    """Of each chunk whether it is raw, and its bytes."""
    rows = frame[56 : 56 + 8 * count].view(np.uint64).astype(np.int64)
    ends = np.cumsum(rows & 0x7FFFFFFF)[:-1]
    return list(zip((rows >> 31 & 1) != 0, np.split(frame[56 + 8 * count :], ends), strict=True))


def has_mask(payload: np.ndarray) -> bool:
    return bool(payload[3] & 0x80)


def kinds(payload: np.ndarray) -> list[int]:
    return (payload[:16].view(np.uint32) >> 15 & 3).tolist()


def every_chunk() -> np.ndarray:
    """All chunks, at least LEAST values."""
    return np.resize(np.concatenate([*CHUNKS.values(), usual(1), usual(2)]), LEAST)


def test_the_chunks_are_what_they_are_called() -> None:
    made = payloads(check(every_chunk()), LEAST // CHUNK)
    raw = {name: each[0] for name, each in zip(CHUNKS, made, strict=False)}
    payload = {name: each[1] for name, each in zip(CHUNKS, made, strict=False)}
    least = 16 + 32 + CHUNK + CHUNK // 4 + CHUNK // 8
    for name, more in [("0 raw", 0), ("1 raw", 8), ("8 raw", 8), ("9 raw", 16)]:
        assert payload[name].size == least + more
    assert not raw[f"{MOST_RAW} raw"] and payload[f"{MOST_RAW} raw"].size == 2 * CHUNK - 8
    assert raw[f"{MOST_RAW + 1} raw"] and raw["random"]
    assert kinds(payload["zeros of kind 0"]) == [0, 0, 0, 0]
    assert kinds(payload["zeros of kind 2"]) == [0, 0, 2, 0]
    for name in ("no mask yet", "negative zeros", "subnormals"):
        assert not raw[name] and not has_mask(payload[name])
    for name in ("mask", "mask that keeps one", "zeros alone"):
        assert not raw[name] and has_mask(payload[name])


@pytest.mark.parametrize("order", [0, 1, 2])
def test_chunks_of_any_sort_next_to_one_another(order: int) -> None:
    chunks = list(CHUNKS.values()) + [usual(seed) for seed in range(20)]
    places = np.random.default_rng(order).integers(0, len(chunks), LEAST // CHUNK + 3)
    check(np.concatenate([chunks[place] for place in places]), times=2)


@pytest.mark.parametrize("left", [1, 255, 256, 5000, CHUNK - 1])
def test_a_last_chunk_that_is_not_whole(left: int) -> None:
    values = np.resize(np.concatenate([usual(1), usual(2), RANDOM]), LEAST + left)
    check(values)
    values[LEAST:] = 0
    check(values)


@pytest.mark.parametrize("offsets", [(2, 0), (8, 0), (0, 2), (0, 4), (0, 8), (16, 16), (16, 24)])
def test_any_alignment(offsets: tuple[int, int]) -> None:
    check(every_chunk(), offsets)


def test_without_checksums() -> None:
    check(every_chunk(), flags=library().TW_MESSAGE_NO_CHECKSUM)


def test_more_chunks_than_thread_blocks() -> None:
    """Each block has several chunks, and copies the values of one while it writes another."""
    values = np.concatenate([every_chunk(), np.resize(usual(4), 16 * LEAST + 100), every_chunk()])
    check(values)
