"""Frames by hand, from spec/frame.md alone."""

import struct

import numpy as np

from thinwire import codecs, dtypes

FILE_MARK = b"tw framefile\0\x1a\r\n"
VERSION_AT, FILL_FLAG = 16, 4
CODEC_AT, CODEC_VERSION_AT, DTYPE_AT, RANK_AT, FLAGS_AT = 17, 18, 19, 20, 21
EXTENT_AT, PARAMETER_AT, BODY_AT, CHECKSUM_AT, FIXED_BYTES = 24, 32, 40, 48, 56
RAW_CHUNK = 0x80000000


def _mix(values: np.ndarray) -> np.ndarray:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def checksum(data: bytes) -> int:
    padded = data + bytes(-len(data) % 8)
    words = np.frombuffer(padded, "<u8")
    index = np.arange(words.size, dtype=np.uint64)
    with np.errstate(over="ignore"):
        keys = (index % np.uint64(128) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        keyed = words ^ keys
        products = (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> np.uint64(32))
        total = (products * (np.uint64(2) * (index // np.uint64(128)) + np.uint64(1))).sum()
        return int(_mix(np.uint64([len(data)]) + total)[0])


def header_bytes(frame: np.ndarray) -> int:
    has_fill = frame[VERSION_AT] >= 2 and frame[FLAGS_AT] & FILL_FLAG
    return FIXED_BYTES + 8 * (max(1, min(4, int(frame[RANK_AT]))) - 1) + (8 if has_fill else 0)


def reseal(frame: np.ndarray) -> None:
    """Put a right checksum under a changed header."""
    end = header_bytes(frame)
    sum_of = checksum(frame[:CHECKSUM_AT].tobytes() + frame[FIXED_BYTES:end].tobytes())
    put(frame, CHECKSUM_AT, sum_of, 8)


def put(frame: np.ndarray, at: int, value: int, width: int) -> None:
    frame[at : at + width] = np.frombuffer(value.to_bytes(width, "little"), np.uint8)


def get(frame: np.ndarray, at: int, width: int) -> int:
    return int.from_bytes(frame[at : at + width].tobytes(), "little")


def build(
    codec: str,
    dtype: str,
    shape: tuple[int, ...],
    parameter: int,
    payloads: list[bytes],
    fill: int | None = None,
) -> np.ndarray:
    """A frame with checksums around these chunk payloads; `fill` has the bits of missing values."""
    row = next(row for row in codecs() if row.name == codec)
    table = b"".join(
        struct.pack("<II", len(payload), checksum(payload) & 0xFFFFFFFF) for payload in payloads
    )
    body = table + b"".join(payloads)
    version, flags = (0, 1) if fill is None else (2, 1 | FILL_FLAG)
    kinds = (version, row.id, row.version, dtypes.CODES[dtype], len(shape), flags, 0)
    head = FILE_MARK + struct.pack("<6BH3Q", *kinds, shape[0], parameter, len(body))
    words = shape[1:] if fill is None else (*shape[1:], fill)
    rest = struct.pack(f"<{len(words)}Q", *words)
    sealed = head + struct.pack("<Q", checksum(head + rest)) + rest
    return np.frombuffer(sealed + body, np.uint8)


def payloads_of(frame: np.ndarray) -> list[bytes]:
    """The chunk payloads of a sound frame."""
    at = header_bytes(frame)
    end = at + get(frame, BODY_AT, 8)
    if at == end:
        return []
    # The table ends where the first payload begins: as many rows as make the sizes add up.
    sizes: list[int] = []
    while at + 8 * len(sizes) + sum(sizes) != end:
        sizes.append(get(frame, at + 8 * len(sizes), 4) & ~RAW_CHUNK)
    data = frame[at + 8 * len(sizes) : end].tobytes()
    starts = np.cumsum([0, *sizes])
    return [data[start : start + size] for start, size in zip(starts, sizes, strict=False)]
