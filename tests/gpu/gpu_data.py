"""Arrays for the GPU tests, and what the registry can do with them."""

import math
import os
from dataclasses import dataclass
from unittest import SkipTest

import numpy as np

from thinwire import Codec, codecs, dtypes

# Besides each codec's example: options that take other paths.
MORE_SPECS = {
    "zfp": ["zfp:rate=4", "zfp:rate=8"],
    "mpc": ["mpc:stride=2", "mpc:stride=3", "mpc:stride=5", "mpc:stride=6"],
    "lorenzo": ["lorenzo:tuple=2", "lorenzo:tuple=3"],
    "blockq": [
        "blockq:bits=4,block=64",
        "blockq:format=mxfp8",
        "blockq:format=e4m3,block=128,hadamard=1",
        "blockq:bits=4,hadamard=1,round=stochastic,seed=7",
    ],
    "cast": ["cast:to=fp16", "cast:to=bf16,round=stochastic,seed=7"],
    "expack": ["expack:mode=fixed", "expack:mode=entropy"],
    "ans": ["ans:tuple=0", "ans:tuple=3"],
    "szp": ["szp:rel=1e-3", "szp:abs=0.5", "szp:abs=0"],
}

KINDS = ("smooth", "random", "zeros", "special", "constant", "huge", "sparse", "spread")

# Around units, blocks, warps and chunks (64 KiB, 16384 values, 1 MiB), primes, and nothing.
COUNTS = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    251,
    1000,
    1023,
    1024,
    1025,
    2048,
    4097,
) + (8191, 8192, 8193, 16383, 16384, 16385, 32768, 32769, 40001, 65537)
LARGE_COUNTS = (131071, 262143, 262144, 262145, 524287, 1048573, 1050001)
# The emulator is a thousand times as slow as a GPU.
MOST_EMULATED = 20000

SHAPES = (
    (1, 1), (3, 5), (4, 4), (5, 4), (4, 5), (17, 33), (64, 64), (129, 131), (1, 5000), (5000, 1),
    (1, 1, 1), (3, 5, 7), (4, 4, 4), (5, 4, 4), (4, 4, 5), (33, 17, 9), (31, 64, 65), (2, 300, 3),
    (2, 3, 5, 7), (9, 8, 7, 6),
)  # fmt: skip


def within_reach(counts: tuple[int, ...]) -> list[int]:
    """Those of them that take no minutes; SkipTest if none does."""
    emulated = "THINWIRE_TEST_EMULATED" in os.environ
    near = [each for each in counts if not emulated or each <= MOST_EMULATED]
    if not near:
        raise SkipTest("arrays that are too long for the emulator")
    return near


@dataclass(frozen=True)
class Coder:
    """A spec at a dtype that its codec takes."""

    spec: str
    dtype: str
    max_rank: int

    def codec(self) -> Codec:
        return Codec(self.spec)

    def __str__(self) -> str:
        return f"{self.spec}-{self.dtype}"


def coders(every_spec: bool = True) -> list[Coder]:
    """The whole registry, at every dtype, but for what knows no CPU (test_gpu_nvcomp.py)."""
    return [
        Coder(spec, dtype, row.max_rank)
        for row in codecs()
        if not row.gpu_only
        for spec in [row.example, *(MORE_SPECS.get(row.name, []) if every_spec else [])]
        for dtype in row.dtypes
    ]


def make(kind: str, dtype: str, shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    """An array as numpy keeps that dtype (bf16: 16-bit words), contiguous."""
    count = math.prod(shape)
    random = np.random.default_rng(seed)
    item = dtypes.NUMPY[dtype]
    if kind == "random" or (dtype == "bytes" and kind in ("special", "huge")):
        return np.frombuffer(random.bytes(count * item.itemsize), item).reshape(shape)
    if kind == "zeros":
        return np.zeros(shape, item)
    if kind == "constant":
        return np.resize(_as(np.full(1, 0.7), dtype), shape)
    at = np.arange(count)
    wave = np.sin(0.01 * at) + 0.3 * np.sin(0.00137 * at) + 1e-6 * random.standard_normal(count)
    if kind == "sparse":
        wave[random.random(count) < 0.6] = 0
    if kind == "spread":
        wave *= 2.0 ** random.integers(-12, 4, count)
    values = _as(wave, dtype)
    if kind == "special":
        values = _with_special(values, dtype, random)
    if kind == "huge":
        # The largest exponent but one, with the mantissas of a wave.
        values = _with_exponent(values, dtype)
    return values.reshape(shape)


def _as(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype in ("e4m3", "e5m2"):
        # The upper byte of an fp16 is an e5m2; the other type gets a range that it has, cut to it.
        words = values.astype(np.float16).view(np.uint16).astype(np.int32)
        if dtype == "e5m2":
            return (words >> 8).astype(np.uint8)
        magnitudes = np.clip((words & 0x7FFF) - (8 << 10), 0, (16 << 10) - 1) >> 7
        return (words >> 8 & 0x80 | magnitudes).astype(np.uint8)
    if dtype == "bytes":
        return (100 * values).astype(np.int64).astype(np.uint8)
    return values.astype(dtypes.NUMPY[dtype])


# Bits of mantissa and of exponent.
_FORMATS = {
    "f32": (23, 8),
    "f64": (52, 11),
    "f16": (10, 5),
    "bf16": (7, 8),
    "e4m3": (3, 4),
    "e5m2": (2, 5),
}


def _words(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.itemsize}").astype(np.uint64)


def _from_words(words: np.ndarray, dtype: str) -> np.ndarray:
    item = dtypes.NUMPY[dtype]
    return words.astype(f"u{item.itemsize}").view(item)


def _with_special(values: np.ndarray, dtype: str, random: np.random.Generator) -> np.ndarray:
    """NaN with payloads, infinities, -0, subnormals, one value in ten."""
    mantissa, exponent = _FORMATS[dtype]
    top = ((1 << exponent) - 1) << mantissa
    sign = 1 << (mantissa + exponent)
    odd = [top | 1, top | sign | 3, top, top | sign, sign, 1, sign | ((1 << mantissa) - 1)]
    words = _words(values)
    places = random.random(words.size) < 0.1
    words[places] = random.choice(np.array(odd, np.uint64), int(places.sum()))
    return _from_words(words, dtype)


def _with_exponent(values: np.ndarray, dtype: str) -> np.ndarray:
    mantissa, exponent = _FORMATS[dtype]
    kept = np.uint64(((1 << mantissa) - 1) | 1 << (mantissa + exponent))
    largest = np.uint64(((1 << exponent) - 2) << mantissa)
    return _from_words((_words(values) & kept) | largest, dtype)
