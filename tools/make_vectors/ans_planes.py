"""Bytes of planes and their frequencies, from a plain reading of spec/codec-ans.md: what both
versions' payloads share. Integers have no size here, and a byte is coded at a time.
"""

from collections import Counter

TOTAL, LANES, LEAST, MOST_WORDS = 2048, 32, 1 << 15, 8064
REST = 63
FOURTHS = (0, 82, 150, 207)

# ---- Values to bytes ----


def words_of(values: list[int], bits: int, tuple_values: int) -> list[int]:
    modulus, signed = 1 << bits, 1 << (bits - 2)
    rotated = [(value << 1 | value >> (bits - 1)) % modulus for value in values]
    if tuple_values == 0:
        return rotated
    words = []
    for at, word in enumerate(rotated):
        before = rotated[at - tuple_values] if at >= tuple_values else 0
        difference = (word - before) % modulus
        number = difference // 2
        number -= 2 * signed if number >= signed else 0
        folded = 2 * number if number >= 0 else -2 * number - 1
        words.append((difference & 1) << (bits - 1) | folded)
    return words


def planes_of(words: list[int], width: int) -> tuple[list[list[int]], int, bool]:
    """The planes, how many words those behind the first have, and whether the chunk is sparse."""
    highest = [word >> (8 * width - 8) for word in words]
    others = [word for word, top in zip(words, highest, strict=True) if top]
    zeros = words.count(0)
    is_sparse = width > 1 and zeros > 0 and zeros + len(others) == len(words)
    rest = others if is_sparse else words
    planes = [[word >> (8 * (width - 1 - p)) & 0xFF for word in rest] for p in range(1, width)]
    return [highest, *planes], len(rest), is_sparse


# ---- Frequencies ----


def meaning(code: int) -> int:
    return code if code < 4 else (4 + code % 4) * 2 ** (code // 4 - 1)


def nearest_code(frequency: int) -> int:
    return min(range(1, 41), key=lambda code: (abs(meaning(code) - frequency), code))


Model = tuple[bytes, dict[int, int]]


def frequencies_of(plane: list[int]) -> tuple[dict[int, int], dict[int, int]] | None:
    """Codes and frequencies of the bytes that are there; None if none is left for the rest."""
    counts = Counter(plane)
    rest = min(counts, key=lambda byte: (-counts[byte], byte))
    codes = {}
    for byte, count in counts.items():
        near = max((4096 * count + len(plane)) // (2 * len(plane)), 1)
        codes[byte] = REST if byte == rest else nearest_code(near)
    frequencies = {byte: meaning(code) for byte, code in codes.items() if code != REST}
    frequencies[rest] = TOTAL - sum(frequencies.values())
    return (codes, frequencies) if frequencies[rest] >= 1 else None


def log(frequency: int) -> int:
    """256 times its logarithm, nearly."""
    highest = frequency.bit_length() - 1
    return 256 * highest + FOURTHS[(frequency << 2 >> highest) & 3]


def table_of(codes: dict[int, int]) -> bytes:
    first = min(codes) // 4
    groups = max(codes) // 4 - first + 1
    number = sum(code << 6 * (byte - 4 * first) for byte, code in codes.items())
    return bytes([first, groups]) + number.to_bytes(3 * groups, "little")


def model_of(plane: list[int]) -> Model | None:
    """Table and frequencies, None for a plane that is stored."""
    found = frequencies_of(plane) if plane else None
    if found is None:
        return None
    codes, frequencies = found
    model = table_of(codes), frequencies
    return model if 64 * size_of(plane, model) <= 63 * len(plane) else None


def mask_model_of(quads: list[int]) -> Model | None:
    """Of the numbers of 4 bits that masks consist of, whose table has all of them."""
    found = frequencies_of(quads)
    if found is None:
        return None
    codes, frequencies = found
    return sum(code << 6 * quad for quad, code in codes.items()).to_bytes(12, "little"), frequencies


def size_of(plane: list[int], model: Model | None) -> int:
    """Bytes of a plane with its table, as an encoder plans them."""
    if model is None:
        return len(plane)
    table, frequencies = model
    eighths = sum(count * (2816 - log(frequencies[byte])) for byte, count in Counter(plane).items())
    return len(table) - (-eighths // 2048)


# ---- States ----


def encode_plane(plane: list[int], frequencies: dict[int, int], states: list[int]) -> list[int]:
    """Moves the states; the words that they give away."""
    words = []
    for at, byte in enumerate(plane):
        lane, frequency = at % LANES, frequencies[byte]
        start = sum(other for lower, other in frequencies.items() if lower < byte)
        state = states[lane]
        if state >= frequency << 20:
            words.append(state & 0xFFFF)
            state >>= 16
        states[lane] = TOTAL * (state // frequency) + state % frequency + start
    return words


def filled_up(part: bytes) -> bytes:
    return part + bytes(-len(part) % 4)
