#!/usr/bin/env python3
"""Write the golden vectors of the zfp codec, with zfpy (libzfp) as the oracle.

    zfp.py            write tests/vectors/zfp.txt, ranks 1 to 3, f32 and f64
    zfp.py --check    exit 1 if the committed file differs from what would be written

Needs numpy and zfpy. Both codecs of a vector see libzfp alone: nothing of Thinwire runs here.
"""

import math
import sys

import numpy as np
import output
import zfpy
from output import Vectors

# A prime number of values, so that no two blocks of an array are alike and swapped ones show.
PERIOD = 251

DTYPES = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8")}

# The least bits of a block and of a magnitude that is coded. zfpy corrupts its heap below the
# first; the rates below leave it alone.
LEAST_BITS = {"f32": 9, "f64": 12}
LEAST_EXPONENT = {"f32": -98, "f64": -962}

# Rates in 64ths of a bit per value.
RATES = {"f32": (144, 224, 512, 723, 1024, 1056, 2048), "f64": (192, 512, 1029, 2048, 3001, 4096)}
SHAPES = {
    1: ((1,), (2,), (3,), (4,), (5,), (31,), (33,), (101,)),
    2: ((1, 1), (2, 3), (4, 4), (5, 9), (7, 8)),
    3: ((1, 2, 3), (4, 4, 4), (5, 3, 6)),
}

# More than one chunk, and blocks at the end that are not full; at a low rate, because of its size.
LONG_SHAPES = {1: (16389,), 2: (171, 99), 3: (27, 26, 25)}
LONG_RATES = {1: 208, 2: 65, 3: 13}


def make_period(dtype: str) -> np.ndarray:
    """Smooth, noisy, sparse, mixed, huge and tiny stretches; magnitudes are 0 or can be coded."""
    state = 12345
    values = np.zeros(PERIOD, dtype=DTYPES[dtype])
    for i in range(PERIOD):
        state = (state * 1103515245 + 12345) % 2**31
        noise = state / 2**30 - 1.0
        if i < 80:
            # A polynomial, not a sine: every libm gives the same bits.
            x = i / 40 - 1
            values[i] = x * x * x - 0.5 * x
        elif i < 130:
            values[i] = noise
        elif i < 150:
            values[i] = -0.0 if i % 3 == 0 else 0.0
        elif i < 180:
            values[i] = noise if i % 5 == 0 else 0.0
        elif i < 230:
            values[i] = np.ldexp(noise, state // 7 % 120 - 60)
        elif i < 240:
            values[i] = np.copysign(np.finfo(DTYPES[dtype]).max / 4, noise)
        else:
            values[i] = np.ldexp(1.0 + abs(noise), LEAST_EXPONENT[dtype])
    if not np.isfinite(values).all():
        raise ValueError("the input has values that are not finite")
    return values


def chunk_bytes(dtype: str, shape: tuple[int, ...], word: int) -> int:
    """Of every chunk but the last, as spec/codec-zfp.md cuts them."""
    block_bits = max((4 ** len(shape) * word + 32) // 64, LEAST_BITS[dtype])
    if len(shape) == 1:
        return 16384 // 4 * block_bits // 8
    blocks = math.prod(math.ceil(extent / 4) for extent in shape[1:])
    plane_bytes = math.prod(shape[1:]) * DTYPES[dtype].itemsize
    step = 64 // math.gcd(64, blocks * block_bits)
    layers = step * math.ceil(math.ceil(65536 / (4 * plane_bytes)) / step)
    return layers * blocks * block_bits // 8


def add_case(
    vectors: Vectors, period: np.ndarray, dtype: str, shape: tuple[int, ...], word: int
) -> None:
    if (4 ** len(shape) * word + 32) // 64 < LEAST_BITS[dtype]:
        raise ValueError(f"zfpy must not be asked for rate {word}/64 in rank {len(shape)}")
    array = np.resize(period, shape)
    rate = word / 64
    stream = zfpy.compress_numpy(array, rate=rate, write_header=False)
    decoded = zfpy._decompress(stream, zfpy.dtype_to_ztype(array.dtype), shape, rate=rate)
    size = chunk_bytes(dtype, shape, word)
    payloads = [stream[at : at + size] for at in range(0, len(stream), size)]
    words = (f"zfp:rate={rate!r}", word, dtype, shape, "mixed", payloads)
    vectors.case(*words, decoded=decoded.tobytes())


def make_file() -> Vectors:
    """Streams of libzfp, without a header."""
    vectors = Vectors()
    for dtype, rates in RATES.items():
        period = make_period(dtype)
        vectors.period("mixed", dtype, period.tobytes())
        for rank, shapes in SHAPES.items():
            for shape in shapes:
                for word in rates:
                    add_case(vectors, period, dtype, shape, word)
            add_case(vectors, period, dtype, LONG_SHAPES[rank], LONG_RATES[rank])
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("zfp", make_file(), "libzfp"))
