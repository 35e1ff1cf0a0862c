#!/usr/bin/env python3
"""Write the golden vectors of the ans codec, from a plain reading of spec/codec-ans.md.

    ans.py            write tests/vectors/ans.txt
    ans.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: integers have no size, and a byte is coded at a time.
"""

import sys
from collections import Counter

import numpy as np
import output
from output import Vectors
from period import word_of

# Bits of a value, and of its mantissa.
BITS = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8}
MANTISSAS = {"f32": 23, "f64": 52, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2}
TOTAL, LANES, LEAST, MOST_WORDS = 2048, 32, 1 << 15, 8064
REST = 63
FOURTHS = (0, 82, 150, 207)

# A prime number of values, so that no two steps are alike and swapped ones show.
PERIOD = 127


def draws(count: int) -> list[int]:
    state, found = 88172645463325252, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append(state)
    return found


def smooth(bits: int, at: int) -> int:
    """A polynomial: every libm gives the same bits. Of 8 bits the words follow it."""
    x = at / 40 - 1
    if bits == 8:
        return 0x30 + round(8 * (x * x * x - 0.5 * x))
    return word_of(x * x * x - 0.5 * x, bits)


def specials(dtype: str) -> list[int]:
    """Zeros, subnormals, the largest, infinities and NaNs, of both signs, among ones."""
    bits, mantissa = BITS[dtype], MANTISSAS[dtype]
    sign = 1 << (bits - 1)
    infinity = (sign - 1) >> mantissa << mantissa
    one = ((1 << (bits - 2 - mantissa)) - 1) << mantissa
    rare = [0, 1, (1 << mantissa) - 1, 1 << mantissa]
    rare += [infinity - 1, infinity, infinity + 1, sign - 1]
    rare += [word | sign for word in rare]
    return [word for pair in zip(rare, [one] * len(rare), strict=True) for word in pair]


def make_period(name: str, dtype: str) -> list[int]:
    bits, some = BITS[dtype], draws(PERIOD)
    if name == "zeros":
        return [0]
    if name == "constant":
        return [0x40490FDB40490FDB >> (64 - bits)]
    if name == "special":
        return specials(dtype)
    if name == "smooth":
        return [smooth(bits, at) for at in range(PERIOD)]
    if name == "few":
        values = [smooth(bits, 9 * at) for at in range(5)]
        return [values[max(4 - (draw >> 40 & 0x7FFF).bit_length() // 3, 0)] for draw in some]
    if name == "sparse":  # few bytes where the words are not zero; the highest is never 0
        return [(draw >> (64 - bits) | 1 << (bits - 2)) * (draw >> 20 & 7 == 0) for draw in some]
    if name == "noise":  # of one exponent and both signs
        kept = 1 << (bits - 1) | (1 << MANTISSAS[dtype]) - 1
        return [draw >> (64 - bits) & kept | 0x3C << (bits - 8) for draw in some]
    raise ValueError(name)


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


def model_of(plane: list[int]) -> tuple[bytes, dict[int, int]] | None:
    """Table and frequencies, None for a plane that is stored."""
    found = frequencies_of(plane) if plane else None
    if found is None:
        return None
    codes, frequencies = found
    table = table_of(codes)
    eighths = sum(count * (2816 - log(frequencies[byte])) for byte, count in Counter(plane).items())
    pays = 64 * (len(table) + -(-eighths // 2048)) <= 63 * len(plane)
    return (table, frequencies) if pays else None


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


# ---- The file ----

COUNTS, LAGS = (1, 2, 31, 33, 255), (0, 1, 3, 32)
# Larger ones of each kind and their tuples, 0 for a whole chunk.
LARGE = {
    "zeros": [(1000, 0), (1000, 32), (0, 0), (0, 1)],
    "constant": [(1000, 3), (0, 0), (0, 1)],
    "special": [(1000, 0)],
    "smooth": [(1000, 1)],
    "few": [(1000, 3), (0, 0)],
    "sparse": [(1000, 0)],
    "noise": [(1000, 0)],
}
# Fewer of fp64, whose payloads are long.
LARGE_F64 = LARGE | {"special": [], "smooth": [], "few": [(0, 0)], "noise": []}


def cases_of(name: str, bits: int) -> list[tuple[int, int]]:
    """Numbers of values, and tuples."""
    whole = 2048 if bits == 64 else 4096 if bits == 32 else 8192
    small = [(count, lag) for count in COUNTS for lag in LAGS]
    if bits == 64:
        small = [(count, lag) for count, lag in small if count < 255 or lag == 3]
    large = (LARGE_F64 if bits == 64 else LARGE)[name]
    return small + [(count or whole, lag) for count, lag in large]


def make_file() -> Vectors:
    """Payloads that would not be smaller than the values are left out."""
    vectors = Vectors()
    for dtype, bits in BITS.items():
        for name in LARGE:
            period = np.array(make_period(name, dtype), f"<u{bits // 8}")
            vectors.period(name, dtype, period.tobytes())
            for count, lag in cases_of(name, bits):
                stream = payload([int(word) for word in np.resize(period, count)], bits, lag)
                if stream is not None:
                    vectors.case(f"ans:tuple={lag}", lag, dtype, (count,), name, [stream])
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("ans", make_file(), "spec/codec-ans.md"))
