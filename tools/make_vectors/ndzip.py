#!/usr/bin/env python3
"""Write the golden vectors of the ndzip codec, from a plain reading of spec/codec-ndzip.md.

    ndzip.py            write tests/vectors/ndzip.txt
    ndzip.py --check    exit 1 if the committed file differs from what would be written

Needs numpy. Nothing of Thinwire runs here: every bit is moved one at a time, as the page says.
"""

import sys

import numpy as np
import output
from mpc import STRETCHES
from output import Vectors
from period import make_period

SHAPES = [(1,), (31,), (65,), (5, 7), (16, 9), (3, 4, 5), (2, 1, 33)]


def residuals(values: np.ndarray, bits: int) -> list[int]:
    """Rotated, less the neighbour along each axis, in sign and magnitude; slowest axis first."""
    top = 1 << (bits - 1)
    words = np.vectorize(lambda v: (v << 1 | v >> (bits - 1)) % (1 << bits), otypes=[object])(
        values.astype(object)
    )
    for axis in range(words.ndim):
        shifted = np.zeros_like(words)
        line = [slice(None)] * words.ndim
        to, of = list(line), list(line)
        to[axis], of[axis] = slice(1, None), slice(None, -1)
        shifted[tuple(to)] = words[tuple(of)]
        words = (words - shifted) % (1 << bits)
    return [word ^ (top - 1) if word & top else word for word in words.reshape(-1).tolist()]


def payload(values: np.ndarray, bits: int) -> bytes:
    words = residuals(values, bits)
    words += [0] * (-len(words) % bits)
    heads, planes = [], []
    for first in range(0, len(words), bits):
        group = words[first : first + bits]
        every = [sum((word >> bit & 1) << i for i, word in enumerate(group)) for bit in range(bits)]
        heads.append(sum((plane != 0) << bit for bit, plane in enumerate(every)))
        planes += [plane for plane in every if plane]
    stream = b"".join(word.to_bytes(bits // 8, "little") for word in heads + planes)
    return stream + bytes(-len(stream) % 8)


def make_file() -> Vectors:
    vectors = Vectors()
    for bits in (32, 64):
        dtype, period = f"f{bits}", make_period(bits, STRETCHES)
        vectors.period("mixed", dtype, period.tobytes())
        for shape in SHAPES:
            stream = payload(np.resize(period, shape), bits)
            vectors.case("ndzip", 0, dtype, shape, "mixed", [stream])
    return vectors


if __name__ == "__main__":
    sys.exit(output.run("ndzip", make_file(), "spec/codec-ndzip.md"))
