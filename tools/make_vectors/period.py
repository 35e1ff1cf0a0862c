"""The values of the lossless codecs' vectors, as bit patterns."""

from dataclasses import dataclass

import numpy as np

# A prime number of values, so that no two parts of an array are alike and swapped ones show.
PERIOD = 251


@dataclass(frozen=True)
class Stretches:
    """Where smooth, constant and sparse values end; what is left of the period is arbitrary."""

    smooth: int
    constant: int
    sparse: int
    half: int  # values until the smooth ones' polynomial is at 0
    seed: int


def make_period(bits: int, stretches: Stretches) -> np.ndarray:
    """Unsigned words of `bits`, floats of that size; 16 of them are the upper half of an fp32."""
    state, words = stretches.seed, []
    for i in range(PERIOD):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        if i < stretches.smooth:
            x = i / stretches.half - 1
            words.append(word_of(x * x * x - 0.5 * x, bits))  # every libm gives the same bits
        elif i < stretches.constant:
            words.append(0x3F80 << (bits - 16))
        elif i < stretches.sparse:
            words.append(state >> (64 - bits) if i % 7 == 0 else 0)
        else:
            words.append(state >> (64 - bits))
    return np.array(words, dtype=f"<u{bits // 8}")


def word_of(value: float, bits: int) -> int:
    if bits == 64:
        return int(np.float64(value).view("u8"))
    return int(np.float32(value).view("u4")) >> (32 - bits)
