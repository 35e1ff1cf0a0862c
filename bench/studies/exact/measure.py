"""What exact sums of arrays in host memory cost beside sums in the order of the ranks, on one
processor: `tw_values_add_exactly` and as many `tw_values_reduce`, by turns.

    python bench/studies/exact/measure.py [--arrays 4] [--bytes 1048576] [--turns 15]

Values of one magnitude or over 2^-40 to 2^40, of which no sum of doubles holds some. Medians, in
nanoseconds a value that is added; of arrays in the opposite order the exact sums are compared.
"""

import argparse
import statistics
import time

import numpy as np

from thinwire import dtypes
from thinwire.bench.samples import from_float
from thinwire.library import check, ffi, library

DTYPES = ("f32", "f64", "f16", "bf16")


def values_of(dtype: str, arrays: int, nbytes: int, spread: int) -> np.ndarray:
    source = np.random.default_rng(arrays)
    shape = (arrays, nbytes // np.dtype(dtypes.NUMPY[dtype]).itemsize)
    drawn = source.standard_normal(shape) * 2.0 ** source.integers(-spread, spread + 1, shape)
    return np.ascontiguousarray(from_float(drawn, dtype))


def nanoseconds(dtype: str, exactly: bool, values: np.ndarray, sums: np.ndarray) -> float:
    lib, number = library(), getattr(library(), f"TW_{dtype.upper()}")
    into = ffi.from_buffer(sums)
    begin = time.perf_counter()
    if exactly:
        first = ffi.from_buffer(values)
        check(lib.tw_values_add_exactly(number, len(sums), len(values), first, sums.nbytes, into))
    else:
        sums[:] = values[0]
        for each in values[1:]:
            check(lib.tw_values_reduce(lib.TW_SUM, number, len(sums), into, ffi.from_buffer(each)))
    return (time.perf_counter() - begin) * 1e9 / values.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arrays", type=int, default=4)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--turns", type=int, default=15)
    given = parser.parse_args()
    print("type, binary orders, in order, exact (ns a value)")
    for dtype in DTYPES:
        for spread in (1, 40) if dtype != "f16" else (1,):
            values = values_of(dtype, given.arrays, given.bytes, spread)
            sums = np.empty_like(values[0])
            took: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(given.turns):
                for exactly, times in took.items():
                    times.append(nanoseconds(dtype, exactly, values, sums))
            kept = sums.copy()
            nanoseconds(dtype, True, np.ascontiguousarray(values[::-1]), sums)
            if kept.tobytes() != sums.tobytes():
                raise SystemExit(f"{dtype}: the order shows")
            ordered, exact = (statistics.median(times) for times in took.values())
            print(f"{dtype}, {2 * spread}, {ordered:.2f}, {exact:.2f}")


if __name__ == "__main__":
    main()
