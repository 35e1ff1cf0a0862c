"""Arrays with missing values for the GPU tests, and the specs that code them."""

import math

import numpy as np
from gpu_data import Coder, coders, make

from thinwire import Codec, codecs

NAMES = [row.name for row in codecs() if not row.lossless and not row.gpu_only]
# The type's own bits of NaN, of 1e36 (fp16: -9999), and of a second kind of fill values.
BITS = {
    "f32": (0x7FC00000, 0x7B4097CE, 0x7E967699),
    "f64": (0x7FF8000000000000, 0x476812F9CF7920E3, 0x47D2CED32A16A1B1),
    "f16": (0x7E00, 0xF0E2, 0x7BFF),
    "bf16": (0x7FC0, 0x7B41, 0x7E96),
}
INFINITY = {"f32": 0x7F800000, "f64": 0x7FF0000000000000, "f16": 0x7C00, "bf16": 0x7F80}
SHARES = (0, "one", 30, 97, 100)


def with_fill(coder: Coder, fill: str) -> Codec:
    return Codec(f"{coder.spec}{',' if ':' in coder.spec else ':'}fill={fill}")


def lossy(every_spec: bool = True) -> list[Coder]:
    found = [each for each in coders(every_spec) if each.spec.partition(":")[0] in NAMES]
    if every_spec:  # so many bits that chunks with a mask are longer than raw ones
        found += [Coder("zfp:rate=32", "f32", 3), Coder("zfp:rate=30", "f32", 3)]
    return found


def fills_of(dtype: str) -> list[tuple[str, int]]:
    """What a spec says, and the bits of the values that are missing then."""
    nan, large, _ = BITS[dtype]
    number = "-9999" if dtype == "f16" else "1e36"
    found = [("nan", nan), (number, large)]
    return found + ([("auto", nan)] if dtype == "f16" else [("auto", nan), ("auto", large)])


def mask_of(count: int, share: int | str, seed: int) -> np.ndarray:
    """Where values are missing: runs as of coasts, and single ones."""
    random = np.random.default_rng(seed)
    missing = np.zeros(count, bool)
    if share == "one":
        missing[random.integers(count)] = True
        return missing
    run = int(random.choice([1, 40, 700]))
    runs = random.random(math.ceil(count / run)) < share / 100
    missing = np.repeat(runs, run)[:count]
    return missing | (random.random(count) < (0.01 if share == 30 else 0))


def put(values: np.ndarray, where: np.ndarray, bits: int) -> None:
    values.reshape(-1).view(f"u{values.itemsize}")[where] = bits


def field(
    dtype: str, shape: tuple[int, ...], share: int | str, bits: int, seed: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    values = make("smooth", dtype, shape, seed).copy()
    missing = mask_of(values.size, share, seed)
    put(values, missing, bits)
    return values, missing


def numbers(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bf16":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)
