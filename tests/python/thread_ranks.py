"""Ranks as threads, and values whose sums are exact in every type."""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from thinwire import dtypes
from thinwire.bench.samples import from_float, to_float

SECONDS = 60.0


def on_ranks(communicators: Sequence[Any], body: Callable[[Any], Any]) -> list[Any]:
    """What `body` returns or raises on each rank; an assertion fails where one hangs."""
    results: list[Any] = [None] * len(communicators)

    def run(index: int) -> None:
        try:
            results[index] = body(communicators[index])
        except Exception as error:
            results[index] = error

    threads = [
        threading.Thread(target=run, args=(index,), daemon=True)
        for index in range(len(communicators))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a rank hangs"
    return results


def checked(results: list[Any]) -> list[Any]:
    """The same; raises what a rank raised."""
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def _fixed(values: np.ndarray, dtype: str) -> np.ndarray:
    array = from_float(values, dtype)
    array.flags.writeable = False
    return array


@lru_cache(64)
def whole(dtype: str, count: int, rank: int) -> np.ndarray:
    """Whole numbers below 23, which compress; not to be written to, as all of these."""
    return _fixed(((np.arange(count) // 7 + 3 * rank) % 23).astype(np.float64), dtype)


@lru_cache(64)
def ones_and_twos(dtype: str, count: int, rank: int) -> np.ndarray:
    return _fixed(1.0 + (np.arange(count) // 5 + rank) % 2, dtype)


@lru_cache(64)
def smooth(dtype: str, count: int, rank: int) -> np.ndarray:
    at = np.arange(count, dtype=np.float64)
    return _fixed(np.sin(0.01 * at + rank) + 0.3 * np.sin(0.00137 * at), dtype)


def combined(arrays: Sequence[np.ndarray], dtype: str, ufunc: Any = np.add) -> np.ndarray:
    """What ranks with these arrays reduce to, in fp64 and then rounded."""
    return from_float(ufunc.reduce([to_float(each, dtype) for each in arrays]), dtype)


def typed(array: np.ndarray, dtype: str) -> Any:
    """The array as a buffer: 16-bit words must be told."""
    return [array, dtype] if dtype == "bf16" else array


def empty(dtype: str, count: int) -> np.ndarray:
    """Bytes that no result has: every one of them has to be written."""
    array = np.empty(count, dtypes.NUMPY[dtype])
    array.view(np.uint8).fill(0xA5)
    return array
