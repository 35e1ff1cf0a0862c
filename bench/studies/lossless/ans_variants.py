"""What changes of the ans format would make of files: ratios estimated from entropies, as CSV.

    python tests/untuned/halves.py FOLDER
    python bench/studies/lossless/ans_variants.py DATA/*.* FOLDER/*/* >rows.csv

Needs numpy and the library. Nothing is coded but by `ans` itself, whose ratio stands beside the
estimate of the same format, so that one sees how far the estimate goes. Chunks, pieces, tables and
states are those of spec/codec-ans.md. The changes:

    tables      bytes of a table in groups of 1 to 16 that share a frequency, whichever is smallest
    dictionary  a chunk is its different words, sorted, and numbers of these at their entropy, if
                that is smaller than planes
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from thinwire import compress
from thinwire.bench import samples

CHUNK_BYTES, PIECE_BYTES, STATE_BYTES, GIVEN_BACK = 32768, 8192, 128, 64
TUPLES = (0, 1, 2, 3, 5, 9, 30)
WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
TABLE_BYTES_OF_ONE = 5  # of a plane of one byte alone
SHIFTS = range(5)


def words_of(values: np.ndarray, lag: int) -> np.ndarray:
    """Rotated, and their differences inside pieces, folded."""
    kind, bits = values.dtype.type, 8 * values.itemsize
    rotated = values << kind(1) | values >> kind(bits - 1)
    if lag == 0:
        return rotated
    before = np.zeros_like(rotated)
    before[lag:] = rotated[:-lag]
    before[np.arange(values.size) % (PIECE_BYTES // values.itemsize) < lag] = 0
    difference = rotated - before
    negative = difference >> kind(bits - 1)
    inner = kind(((1 << bits) - 1) >> 1 & ~1)
    folded = (difference ^ (kind(0) - negative)) & inner
    return folded | difference << kind(bits - 1) | negative


def shared(counts: np.ndarray, shift: int) -> np.ndarray:
    """Counts as if the bytes of a group were equally frequent, but for the most frequent one."""
    rest = counts.argmax()
    others, ones = counts.astype(float), np.ones(counts.size)
    others[rest] = ones[rest] = 0
    sums = others.reshape(-1, 1 << shift).sum(1) / np.maximum(
        ones.reshape(-1, 1 << shift).sum(1), 1
    )
    spread = np.repeat(sums, 1 << shift)
    spread[rest] = counts[rest]
    return spread


def plane_bytes(plane: np.ndarray, shifts: range) -> tuple[float, bool]:
    """Of a plane with its table, and whether it has states."""
    counts = np.bincount(plane, minlength=256)
    there = np.flatnonzero(counts)
    if there.size < 2:
        return TABLE_BYTES_OF_ONE * there.size, False
    best = plane.size * 63 / 64
    is_coded = False
    for shift in shifts:
        step = 4 << shift
        groups = there[-1] // step - there[0] // step + 1
        shares = shared(counts, shift)[there] / plane.size
        bits = -(counts[there] * np.log2(np.maximum(shares, 1 / 2048))).sum()
        size = 2 + 3 * groups + bits / 8
        if size <= best:
            best, is_coded = size, True
    return (best, True) if is_coded else (plane.size, False)


def planes_bytes(planes: np.ndarray, top: np.ndarray, others: np.ndarray, shifts: range) -> float:
    """Of a chunk whose planes have the bytes of these words: the first one, the others."""
    pieces = -(-planes.size // PIECE_BYTES)
    size, mixed, last = 4.0 + 4 * pieces, 0, False
    for plane in range(planes.shape[1]):
        own, has_states = plane_bytes(planes[top if plane == 0 else others, plane], shifts)
        size, mixed, last = size + own, mixed + has_states, has_states
    # States have bytes of the last plane if that is stored.
    given = 0 if last or planes.shape[1] == 1 else GIVEN_BACK
    return size + (pieces * (STATE_BYTES - given) if mixed else 0)


def sparse_words(words: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """Which words the planes but the first have bytes of."""
    kept = np.ones(words.size, bool)
    length = PIECE_BYTES // words.itemsize
    for first in range(0, words.size, length):
        piece = slice(first, first + length)
        zero = words[piece] == 0
        is_sparse = np.array_equal(planes[piece, 0] == 0, zero)
        if is_sparse and 128 * zero.sum() >= zero.size:
            kept[piece] = ~zero
    return kept


def quads_bytes(there: np.ndarray) -> float:
    """Of a mask with its table."""
    fours = np.append(there, np.zeros(-there.size % 4, bool)).reshape(-1, 4)
    counts = np.bincount(fours @ (1, 2, 4, 8))
    counts = counts[counts > 0]
    return float(12 - (counts * np.log2(counts / counts.sum())).sum() / 8)


def dictionary_bytes(values: np.ndarray) -> float:
    """Different words, sorted: what their differences take, and numbers of them at their
    entropy."""
    different, counts = np.unique(values, return_counts=True)
    steps = np.log2(np.maximum(np.diff(different).astype(float), 1)) + 1
    table = min(values.itemsize * different.size, steps.sum() / 8 + 0.4 * different.size)
    return float(table - (counts * np.log2(counts / values.size)).sum() / 8)


def chunk_bytes(values: np.ndarray, words: np.ndarray) -> tuple[float, ...]:
    """Of the format, and under each change."""
    width, raw = words.itemsize, words.nbytes
    planes = words.view(np.uint8).reshape(-1, width)[:, ::-1]
    every, kept = np.ones(words.size, bool), sparse_words(words, planes)
    found = [planes_bytes(planes, every, kept, shifts) for shifts in (SHIFTS[:1], SHIFTS)]
    there = words != 0
    if 64 * np.count_nonzero(there) < 63 * words.size:
        mask = quads_bytes(there)
        for number, shifts in enumerate((SHIFTS[:1], SHIFTS)):
            masked = mask + planes_bytes(planes, there, there, shifts)
            found[number] = min(found[number], masked)
    found.append(min(found[0], dictionary_bytes(values)))
    return tuple(min(size, raw) for size in found)


def estimates(values: np.ndarray, lag: int) -> np.ndarray:
    words, length = words_of(values, lag), CHUNK_BYTES // values.itemsize
    cuts = range(0, values.size, length)
    sizes = [chunk_bytes(values[at : at + length], words[at : at + length]) for at in cuts]
    return values.nbytes / np.sum(sizes, axis=0)


def row_of(path: Path) -> Iterator[str]:
    sample = samples.read_shaped(path, None, None)
    line = sample.values.reshape(-1)
    found = {
        lag: line.nbytes / len(compress(line, f"ans:tuple={lag}", dtype=sample.dtype))
        for lag in TUPLES
    }
    best = max(found, key=found.__getitem__)
    yield from (sample.name, str(best), f"{found[best]:.3f}")
    words = line.view(WORDS[line.itemsize])
    for ratio in np.max([estimates(words, lag) for lag in TUPLES], axis=0):
        yield f"{ratio:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("file", "tuple", "ans", "estimate", "tables", "dictionary"))
    for path in parser.parse_args().files:
        out.writerow(row_of(path))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
