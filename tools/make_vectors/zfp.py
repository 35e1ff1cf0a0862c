#!/usr/bin/env python3
"""Write the golden vectors of the zfp codec, with zfpy (libzfp) as the oracle.

    zfp.py            write tests/vectors/zfp-1d-f32.txt
    zfp.py --check    exit 1 if the committed file differs from what would be written

Needs numpy and zfpy. Both codecs of a vector see libzfp alone: nothing of Thinwire runs here.
"""

import sys

import numpy as np
import output
import zfpy

# A prime number of values, so that no two blocks of an array are alike and swapped ones show.
PERIOD = 251

# Block bits, four times the rate. zfpy corrupts its heap below 9.
BLOCK_BITS = (9, 14, 32, 45, 64, 66, 111, 128)
LENGTHS = (1, 2, 3, 4, 5, 31, 32, 33, 257)

# One more than a chunk of 16384 values, and a last block that is not full.
LONG_LENGTH = 16389
LONG_BLOCK_BITS = (9, 14)

HEADER = f"""\
# zfp, 1-D, fp32: streams of libzfp without a header. Written by tools/make_vectors/zfp.py.
# period <{PERIOD} little-endian fp32, hex>: value i of every array is period[i mod {PERIOD}]
# case <values> <bits of a block> <FNV-1a 64 of the decoded bytes> <stream, hex>
"""


def make_period() -> np.ndarray:
    """Smooth, noisy, sparse, mixed and huge stretches; magnitudes are 0 or at least 2**-98."""
    state = 12345
    values = np.zeros(PERIOD, dtype=np.float32)
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
            values[i] = np.copysign(np.finfo(np.float32).max / 4, noise)
        else:
            values[i] = np.ldexp(1.0 + abs(noise), -98)
    return values


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def make_case(period: np.ndarray, length: int, block_bits: int) -> str:
    array = np.resize(period, length)
    rate = block_bits / 4
    stream = zfpy.compress_numpy(array, rate=rate, write_header=False)
    decoded = zfpy._decompress(stream, zfpy.dtype_to_ztype(array.dtype), array.shape, rate=rate)
    return f"case {length} {block_bits} {fnv1a(decoded.tobytes()):016x} {stream.hex()}\n"


def make_file() -> str:
    period = make_period()
    if not np.isfinite(period).all():
        raise ValueError("the input has values that are not finite")
    cases = [(length, bits) for length in LENGTHS for bits in BLOCK_BITS]
    cases += [(LONG_LENGTH, bits) for bits in LONG_BLOCK_BITS]
    lines = [make_case(period, length, bits) for length, bits in cases]
    return HEADER + f"period {period.astype('<f4').tobytes().hex()}\n" + "".join(lines)


if __name__ == "__main__":
    sys.exit(output.run("zfp-1d-f32.txt", make_file(), "libzfp"))
