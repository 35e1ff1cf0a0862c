"""What coding each exponent by its frequency alone could make of an array: a yardstick for codecs
that leave sign and mantissa as they are."""

import numpy as np

from thinwire.bench.samples import Sample

_MANTISSA_BITS = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2}


def order0_ratio(sample: Sample) -> float | None:
    """The ratio of a mask of the exact zeros and the exponents of all other values, each at its
    entropy over the whole array, with their signs and mantissas as they are. None for bytes, and
    where nothing is left to be sent. A codec that looks at more than frequencies can exceed it."""
    mantissa = _MANTISSA_BITS.get(sample.dtype)
    if mantissa is None:
        return None
    words = sample.values.reshape(-1)
    words = words.view(f"u{words.itemsize}")
    kept = words[words != 0]
    exponents = (kept >> mantissa).astype(np.int64) & (
        (1 << (8 * words.itemsize - 1 - mantissa)) - 1
    )
    bits = _entropy_bits(np.array([kept.size, words.size - kept.size]))
    bits += _entropy_bits(np.bincount(exponents)) + kept.size * (1 + mantissa)
    return 8 * words.nbytes / bits if bits else None


def _entropy_bits(counts: np.ndarray) -> float:
    """Of as many symbols as the counts add up to."""
    counts = counts[counts > 0]
    return float(np.sum(counts * (np.log2(counts.sum()) - np.log2(counts))))
