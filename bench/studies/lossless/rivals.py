"""Lossless coders of others, each at the best of its settings, for `lossless_rows.py`.

Those from PyPI are zstandard, blosc2, fpzip and nvidia-libnvcomp-cu12 (or -cu13), of which Bitcomp
codes on the host; ndzip is a library of its own (`ndzip_peer.cpp`). Who is not at hand is named.
"""

import ctypes
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from thinwire import Codec, compress, decompress
from thinwire.bench import specs
from thinwire.bench.samples import Sample, merged_shapes

MOST_STRIDES = 32  # of MPC

# A setting, the bytes that it takes, and the values that its decoder gave.
Attempt = tuple[str, int, np.ndarray]


@dataclass(frozen=True)
class Rival:
    name: str
    dtypes: tuple[str, ...]
    attempts: Callable[[Sample], Iterator[Attempt]]


ALL = ("f32", "f64", "f16", "bf16")
WIDE = ("f32", "f64")


def shapes(values: np.ndarray) -> list[tuple[int, ...]]:
    return merged_shapes(values.shape, 3)


def byte_planes(values: np.ndarray) -> np.ndarray:
    """First the lowest byte of every value, then the next."""
    return np.ascontiguousarray(values.reshape(-1, 1).view(np.uint8).T)


def from_planes(planes: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(planes.T).view(values.dtype).reshape(-1)


def zstd(module: Any, level: int, split: bool) -> Callable[[Sample], Iterator[Attempt]]:
    def attempts(sample: Sample) -> Iterator[Attempt]:
        coder = module.ZstdCompressor(level=level, threads=0)
        decode = module.ZstdDecompressor().decompress
        if not split:
            coded = coder.compress(sample.values.tobytes())
            yield "", len(coded), np.frombuffer(decode(coded), sample.values.dtype)
            return
        planes = byte_planes(sample.values)
        for name, parts in (("planes as one", [planes]), ("planes apart", list(planes))):
            coded = [coder.compress(part.tobytes()) for part in parts]
            back = np.frombuffer(b"".join(map(decode, coded)), np.uint8).reshape(planes.shape)
            yield name, sum(map(len, coded)), from_planes(back, sample.values)

    return attempts


def blosc(module: Any) -> Callable[[Sample], Iterator[Attempt]]:
    filters = {"bitshuffle": module.Filter.BITSHUFFLE, "shuffle": module.Filter.SHUFFLE}

    def attempts(sample: Sample) -> Iterator[Attempt]:
        for name, each in filters.items():
            coded = module.compress2(
                sample.values.reshape(-1),
                codec=module.Codec.ZSTD,
                clevel=9,
                typesize=sample.values.itemsize,
                filters=[each],
                nthreads=1,
            )
            back = np.frombuffer(module.decompress2(coded), sample.values.dtype)
            yield name, len(coded), back

    return attempts


def fpzip(module: Any) -> Callable[[Sample], Iterator[Attempt]]:
    def attempts(sample: Sample) -> Iterator[Attempt]:
        for shape in shapes(sample.values):
            coded = module.compress(sample.values.reshape(shape), precision=0, order="C")
            back = module.decompress(coded, order="C")
            yield "x".join(map(str, shape)), len(coded), back

    return attempts


def ours(names: list[str], all_shapes: bool) -> Callable[[Sample], Iterator[Attempt]]:
    """Of our own codecs that code in the format of another, frames included."""

    def attempts(sample: Sample) -> Iterator[Attempt]:
        values = sample.values
        for name in names:
            for shape in shapes(values) if all_shapes else [(values.size,)]:
                frame = bytes(compress(values, name, dtype=sample.dtype, shape=shape))
                back = np.frombuffer(bytes(decompress(frame)), values.dtype)
                yield f"{name} {'x'.join(map(str, shape))}", len(frame), back

    return attempts


def ndzip(library: ctypes.CDLL) -> Callable[[Sample], Iterator[Attempt]]:
    def attempts(sample: Sample) -> Iterator[Attempt]:
        word = sample.values.itemsize
        for shape in shapes(sample.values):
            extents = (ctypes.c_uint * len(shape))(*shape)
            bound, encode, decode = (
                getattr(library, f"ndzip_{sample.dtype}_{step}")
                for step in ("bound", "encode", "decode")
            )
            values = np.ascontiguousarray(sample.values).reshape(-1)
            coded = np.zeros(bound(len(shape), extents), f"u{word}")
            words = encode(address(values), len(shape), extents, address(coded))
            back = np.zeros_like(values)
            decode(address(coded), words, address(back), len(shape), extents)
            yield "x".join(map(str, shape)), words * word, back

    return attempts


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


BITCOMP_TYPES = {"f32": 4, "f64": 6, "f16": 2, "bf16": 2}  # unsigned words of that width
BITCOMP_ALGORITHMS = {"default": 0, "sparse": 1}


def bitcomp(library: ctypes.CDLL) -> Callable[[Sample], Iterator[Attempt]]:
    library.bitcompMaxBuflen.restype = ctypes.c_size_t

    def must(outcome: int) -> None:
        if outcome != 0:
            raise RuntimeError(f"Bitcomp: error {outcome}")

    def attempts(sample: Sample) -> Iterator[Attempt]:
        values = np.ascontiguousarray(sample.values).reshape(-1)
        for name, algorithm in BITCOMP_ALGORITHMS.items():
            plan, size = ctypes.c_void_p(), ctypes.c_size_t()
            count = ctypes.c_size_t(values.nbytes)
            kind = BITCOMP_TYPES[sample.dtype]
            must(library.bitcompCreatePlan(ctypes.byref(plan), count, kind, 0, algorithm))
            coded = np.zeros(library.bitcompMaxBuflen(count) // 8 + 1, np.uint64)
            back = np.zeros_like(values)
            must(library.bitcompHostCompressLossless(plan, address(values), address(coded)))
            must(library.bitcompGetCompressedSize(address(coded), ctypes.byref(size)))
            must(library.bitcompHostUncompress(plan, address(coded), address(back)))
            must(library.bitcompDestroyPlan(plan))
            yield name, size.value, back

    return attempts


def nvcomp_library() -> Path | None:
    """Of the wheel, wherever it is installed."""
    found = importlib.util.find_spec("nvidia") and importlib.util.find_spec("nvidia.libnvcomp")
    for folder in (found and found.submodule_search_locations) or []:
        for path in sorted(Path(folder).glob("lib*/libnvcomp.so.*")):
            return path
    return None


def of_module(name: str, skipped: Callable[[str], None]) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        skipped(f"{name}: {error}")
        return None


def at_hand(ndzip_library: Path | None, skipped: Callable[[str], None]) -> Iterator[Rival]:
    """MPC and ndzip are also there as our own codecs of these names: the same residuals and planes
    in frames of ours."""
    if module := of_module("zstandard", skipped):
        yield Rival("zstd -3", ALL, zstd(module, 3, split=False))
        yield Rival("zstd -3, byte planes", ALL, zstd(module, 3, split=True))
        yield Rival("zstd -19, byte planes", ALL, zstd(module, 19, split=True))
    if module := of_module("blosc2", skipped):
        yield Rival("blosc2", ALL, blosc(module))
    if module := of_module("fpzip", skipped):
        yield Rival("fpzip", WIDE, fpzip(module))
    if path := nvcomp_library():
        yield Rival("Bitcomp", ALL, bitcomp(ctypes.CDLL(str(path))))
    else:
        skipped("Bitcomp: no libnvcomp.so in a package nvidia.libnvcomp")
    if ndzip_library:
        yield Rival("ndzip", WIDE, ndzip(ctypes.CDLL(str(ndzip_library))))
    else:
        skipped("ndzip: no library of it is given (--ndzip)")
        yield Rival("ndzip", WIDE, ours(["ndzip"], all_shapes=True))
    yield Rival("MPC", WIDE, ours(mpc_specs(), all_shapes=False))


def mpc_specs() -> list[str]:
    return [f"mpc:stride={stride}" for stride in range(1, MOST_STRIDES + 1)]


def own_specs(dtype: str) -> list[str]:
    """Our lossless codecs that code on the host, with the options that are usual for them, and
    every stride."""
    usual = [*specs.default_specs(on_gpu=False), *mpc_specs()]
    found = [Codec(spec) for spec in dict.fromkeys(usual)]
    rows = [(codec.spec, specs.row_of(codec)) for codec in found if not specs.is_policy(codec)]
    return [
        spec for spec, row in rows if row.lossless and dtype in row.dtypes and row.name != "raw"
    ]
