"""Exact sums against Python's own: math.fsum for doubles, fractions for the other types; and those
of communicators, whoever has which values and however many ranks share a total."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from thread_ranks import checked, on_ranks, typed

import thinwire
from thinwire import dtypes
from thinwire.bench.samples import from_float, to_float
from thinwire.library import check, ffi, library

DTYPES = ("f32", "f64", "f16", "bf16")
# Bits of the mantissa, exponents of the least number and of the first that is too large.
FORMATS = {"f32": (24, -149, 128), "f64": (53, -1074, 1024), "f16": (11, -24, 16)}
FORMATS["bf16"] = (8, -133, 128)
EXACT = "lossless:reductions=exact"


def rounded(total: Fraction, dtype: str) -> float:
    """To nearest, ties to even; a value of any of these types is one of Python's."""
    bits, least, most = FORMATS[dtype]
    if total == 0:
        return 0.0
    places = total.numerator.bit_length() - total.denominator.bit_length()
    unit = Fraction(2) ** max(least, places - bits - 1)
    while abs(total) >= unit * 2**bits:
        unit *= 2
    value = round(total / unit) * unit  # Fraction's rounds ties to even
    if abs(value) >= Fraction(2) ** most:
        return math.copysign(math.inf, total)
    return math.copysign(float(value), total)


def made_up(source: random.Random, dtype: str, count: int) -> list[float]:
    """Values over all magnitudes or few, subnormal ones, and such as cancel others."""
    bits, least, most = FORMATS[dtype]
    low = source.choice([least, source.randint(least, most - bits - 4)])
    spread = source.choice([1, 8, 60, most - bits - 4 - low])
    values: list[float] = []
    for _ in range(count):
        if values and source.random() < 0.3:
            values.append(-source.choice(values))
            continue
        exponent = min(low + source.randint(0, max(spread, 1)), most - bits - 4)
        whole = source.randint(-(2**bits) + 1, 2**bits - 1) >> source.choice([0, 0, bits // 2])
        values.append(math.ldexp(whole, exponent))
    return values


def summed(columns: list[list[float]], dtype: str) -> np.ndarray:
    """The sums of lists of values, each one element of as many arrays."""
    arrays = from_float(np.array(columns, np.float64).T, dtype)
    flat = np.ascontiguousarray(arrays)
    sums = np.empty(len(columns), dtypes.NUMPY[dtype])
    number = getattr(library(), f"TW_{dtype.upper()}")
    first, into = ffi.from_buffer(flat), ffi.from_buffer(sums)
    stride = sums.nbytes
    check(library().tw_values_add_exactly(number, len(sums), len(arrays), first, stride, into))
    return sums


def same(found: np.ndarray, wanted: list[float], dtype: str) -> None:
    expected = from_float(np.array(wanted, np.float64), dtype)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_sums_are_those_of_fractions_in_any_order(dtype: str, ranks: int) -> None:
    source = random.Random(ranks)
    columns = [made_up(source, dtype, ranks) for _ in range(500)]
    wanted = [rounded(sum(map(Fraction, each)), dtype) for each in columns]
    same(summed(columns, dtype), wanted, dtype)
    for each in columns:
        source.shuffle(each)
    same(summed(columns, dtype), wanted, dtype)


def test_sums_of_doubles_are_those_of_fsum() -> None:
    source = random.Random(7)
    columns = [made_up(source, "f64", 9) for _ in range(2000)]
    same(summed(columns, "f64"), [math.fsum(each) for each in columns], "f64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_total_is_the_same_over_any_number_of_ranks(dtype: str) -> None:
    """Whole numbers of a small unit, parted at random."""
    bits, least, _ = FORMATS[dtype]
    source = random.Random(3)
    totals = [source.randint(1, 2 ** (bits - 2)) for _ in range(500)]
    most = 2 ** (bits - 6)
    wanted = [math.ldexp(total, least + 3) for total in totals]
    for ranks in (2, 3, 5, 8):
        columns = []
        for total in totals:
            parts = [source.randint(-most, most) for _ in range(ranks - 1)]
            parts.append(total - sum(parts))
            source.shuffle(parts)
            columns.append([math.ldexp(part, least + 3) for part in parts])
        # Two more that cancel, and in which the others have no place.
        large = math.ldexp(1.0, least + 3 * bits // 2)
        same(summed([[large, *each, -large] for each in columns], dtype), wanted, dtype)
        same(summed(columns, dtype), wanted, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_infinities_and_nans(dtype: str) -> None:
    inf, nan = math.inf, math.nan
    columns = [[-0.0, -0.0], [0.0, -0.0], [1.0, -1.0], [inf, 1.0], [inf, -inf], [nan, inf]]
    same(summed(columns, dtype), [-0.0, 0.0, 0.0, inf, nan, nan], dtype)
    bits, _, most = FORMATS[dtype]
    largest = math.ldexp(2**bits - 1, most - bits)
    same(summed([[largest, largest, -largest]], dtype), [largest], dtype)
    same(summed([[largest, largest, 1.0]], dtype), [inf], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_communicators_add_exactly_whoever_has_what(dtype: str, ranks: int) -> None:
    source = random.Random(ranks)
    count = 3001
    columns = [made_up(source, dtype, ranks) for _ in range(count)]
    wanted = [rounded(sum(map(Fraction, each)), dtype) for each in columns]
    arrays = from_float(np.array(columns, np.float64).T, dtype)
    for turned in (0, 1, ranks - 1):

        def body(comm, turned=turned):
            own = np.ascontiguousarray(arrays[(comm.rank + turned) % ranks])
            out = np.empty_like(own)
            comm.Allreduce(typed(own, dtype), typed(out, dtype))
            return out

        nodes = [rank // 2 for rank in range(ranks)]
        comms = thinwire.local_ranks(ranks, codec=EXACT, threshold=0, piece="2KiB", nodes=nodes)
        for out in checked(on_ranks(comms, body)):
            same(out, wanted, dtype)
    assert np.isfinite(to_float(from_float(np.array(wanted), dtype), dtype)).any()
