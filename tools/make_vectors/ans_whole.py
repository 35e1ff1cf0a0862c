"""Payloads of version 0 of ans, whose chunks are not cut into pieces: spec/codec-ans.md."""

from ans_planes import (
    LANES,
    LEAST,
    MOST_WORDS,
    encode_plane,
    filled_up,
    model_of,
    planes_of,
    words_of,
)


def payload(values: list[int], bits: int, tuple_values: int) -> bytes | None:
    """None if it is stored raw."""
    width = bits // 8
    planes, kept, is_sparse = planes_of(words_of(values, bits, tuple_values), width)
    models = [model_of(plane) for plane in planes]
    states, words = [LEAST] * LANES, []
    tables = stored = b""
    coded, has_states = 0, False
    for number, (plane, model) in enumerate(zip(planes, models, strict=True)):
        if model is None:
            stored += filled_up(bytes(plane))
            continue
        table, frequencies = model
        tables += table
        coded |= 1 << number
        has_states |= len(frequencies) > 1
        words += encode_plane(plane, frequencies, states)
    head = len(words) | kept << 16 | coded << 32 | is_sparse << 40
    stream = head.to_bytes(8, "little") + filled_up(tables) + stored
    if has_states:
        stream += b"".join(state.to_bytes(4, "little") for state in states)
        stream += b"".join(word.to_bytes(2, "little") for word in words)
    return stream if len(words) <= MOST_WORDS and len(stream) < len(values) * width else None
