"""Damaged and hostile frames: what a decoder may be handed."""

from collections.abc import Iterator

import frame_bytes as fb
import numpy as np

ROWS = (0, 1, 8, 0x7FFFFFFF, fb.RAW_CHUNK, 0x80010000, 0xFFFFFFFF)


def flipped_headers(frame: np.ndarray) -> Iterator[np.ndarray]:
    """Each byte of the header and of the first rows changed, the checksum left as it was."""
    for at in range(min(frame.size, fb.header_bytes(frame) + 16)):
        changed = frame.copy()
        changed[at] ^= 1 << at % 8
        yield changed


def flipped_payloads(frame: np.ndarray, count: int, seed: int) -> Iterator[np.ndarray]:
    random = np.random.default_rng(seed)
    for at in random.integers(fb.header_bytes(frame), frame.size, count):
        changed = frame.copy()
        changed[at] ^= random.integers(1, 256)
        yield changed


def sealed_nonsense(frame: np.ndarray) -> Iterator[np.ndarray]:
    """Fields that are wrong under a right checksum."""
    count, body = fb.get(frame, fb.EXTENT_AT, 8), fb.get(frame, fb.BODY_AT, 8)
    fields = [(fb.CODEC_AT, 77, 1), (fb.CODEC_VERSION_AT, 9, 1), (fb.RANK_AT, 0, 1)]
    fields += [(fb.RANK_AT, 5, 1), (fb.FLAGS_AT, 0xFF, 1), (fb.FLAGS_AT + 1, 1, 2), (16, 1, 1)]
    fields += [(fb.CODEC_AT, codec, 1) for codec in range(4)]
    fields += [(fb.DTYPE_AT, dtype, 1) for dtype in (0, 1, 2, 3, 4, 5, 6, 7, 255)]
    fields += [(fb.RANK_AT, rank, 1) for rank in (1, 2, 3, 4)]
    extents = (0, 1, count - 1, count + 1, 2 * count, 1 << 31, 1 << 40, 1 << 61, (1 << 64) - 1)
    fields += [(fb.EXTENT_AT, extent, 8) for extent in extents]
    parameters = (0, 1, 31, 32, 33, 64, 255, 1 << 32, (1 << 64) - 1)
    fields += [(fb.PARAMETER_AT, parameter, 8) for parameter in parameters]
    bodies = (0, 1, 7, 8, body - 1, body + 1, 1 << 62, (1 << 64) - 1)
    fields += [(fb.BODY_AT, each, 8) for each in bodies]
    for at, value, width in fields:
        changed = frame.copy()
        fb.put(changed, at, value % (1 << 8 * width), width)
        fb.reseal(changed)
        yield changed


def lying_tables(frame: np.ndarray, chunks: int) -> Iterator[np.ndarray]:
    """Rows of other sizes; sizes that only add up; sizes whose sum overflows."""
    table = fb.header_bytes(frame)
    for index in {0, chunks // 2, chunks - 1}:
        for row in ROWS:
            changed = frame.copy()
            fb.put(changed, table + 8 * index, row, 4)
            yield changed
    if chunks > 1:
        for step in (1, 8, 64):
            changed = frame.copy()
            for index, by in ((0, step), (chunks - 1, -step)):
                size = fb.get(changed, table + 8 * index, 4)
                fb.put(changed, table + 8 * index, (size + by) % (1 << 32), 4)
            yield changed
    for row in ROWS[3:]:
        changed = frame.copy()
        for index in range(chunks):
            fb.put(changed, table + 8 * index, row, 4)
        yield changed


def random_bodies(frame: np.ndarray, chunks: int, count: int, seed: int) -> Iterator[np.ndarray]:
    """Random payloads, and random tables too, behind a sound header."""
    random = np.random.default_rng(seed)
    for trial in range(count):
        start = fb.header_bytes(frame) + (8 * chunks if trial % 4 else 0)
        changed = frame.copy()
        changed[start:] = np.frombuffer(random.bytes(frame.size - start), np.uint8)
        yield changed


def truncations(frame: np.ndarray) -> Iterator[np.ndarray]:
    near = range(0, min(frame.size, fb.header_bytes(frame) + 40))
    far = range(fb.header_bytes(frame) + 40, frame.size, max(1, frame.size // 60))
    for length in [*near, *far, frame.size - 1]:
        yield frame[:length].copy()


def noise(count: int, seed: int) -> Iterator[np.ndarray]:
    """No frames at all, some with a frame's mark."""
    random = np.random.default_rng(seed)
    for trial in range(count):
        data = np.frombuffer(random.bytes(int(random.integers(1, 3000))), np.uint8).copy()
        if trial % 2 and data.size > 64:
            data[:16] = np.frombuffer(fb.FILE_MARK, np.uint8)
            data[16] = 0
            data[fb.RANK_AT] = 1 + trial % 4
            fb.reseal(data)
        yield data
