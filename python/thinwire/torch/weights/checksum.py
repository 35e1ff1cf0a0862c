"""The checksum of buckets and payloads (spec/weights.md): a sum of 32-bit words times weights.

It is linear, so that who knows a bucket's checksum and which elements change has the next one
without a pass over the bucket. Words are 32 bits in sums of 64, as a change of the highest bits of
two 64-bit words would cancel. Made for damage, not against forgery.
"""

from functools import cache
from typing import Any

import numpy as np
import torch

_PERIOD_BITS = 15
PERIOD = 1 << _PERIOD_BITS  # weights of words; each row of so many has a factor of its own
MOST_ROWS = 1 << 14
MOST_BYTES = 4 * PERIOD * MOST_ROWS
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Rows that a GPU takes at once, so that their products have 64 MiB.
_ROWS_AT_ONCE = 256
_ALL = (1 << 64) - 1


def mix(z: int) -> int:
    """The finaliser of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _ALL
    return z ^ (z >> 31)


def signed(word: int) -> int:
    """The 64-bit word as torch's int64 has it."""
    return word - (1 << 64) if word >> 63 else word


def _odd(first: int, count: int) -> Any:
    z = (np.arange(first + 1, first + count + 1, dtype=np.uint64)) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return torch.from_numpy(((z ^ (z >> np.uint64(31))) | np.uint64(1)).view(np.int64))


@cache
def _weights(device: Any) -> tuple[Any, Any]:
    """Of words in a row, and of rows."""
    return _odd(0, PERIOD).to(device), _odd(PERIOD, MOST_ROWS).to(device)


def sum_of(elements: Any, at: int) -> Any:
    """The sum of a flat integer tensor that lies `at` bytes, a multiple of 8, within a bucket; a
    tensor of one int64 on its device."""
    total = torch.zeros((), dtype=torch.int64, device=elements.device)
    if elements.numel() == 0:
        return total
    words = _words(elements)
    in_row, of_rows = _weights(elements.device)
    place = at // 4
    begin = 0
    while begin < words.numel():
        row, column = divmod(place + begin, PERIOD)
        if column or words.numel() - begin < PERIOD or not _takes_rows(words.device):
            count = min(words.numel() - begin, PERIOD - column)
            part = words[begin : begin + count].long()
            total += _dot(part, in_row[column : column + count]) * of_rows[row]
        else:
            rows = min((words.numel() - begin) // PERIOD, _ROWS_AT_ONCE)
            count = rows * PERIOD
            part = words[begin : begin + count].view(rows, PERIOD) * in_row
            total += (part.sum(1) * of_rows[row : row + rows]).sum()
        begin += count
    return total


def growth(positions: Any, new: Any, old: Any) -> int:
    """What a bucket's checksum grows by if its elements at ascending `positions` change."""
    total = torch.zeros((), dtype=torch.int64, device=new.device)
    # A host's temporary arrays stay in the cache.
    at_once = 1 << 14 if new.device.type == "cpu" else 1 << 22
    for begin in range(0, positions.numel(), at_once):
        part = slice(begin, begin + at_once)
        total += _growth(positions[part], new[part], old[part])
    return int(total) & _ALL


def _growth(positions: Any, new: Any, old: Any) -> Any:
    in_row, of_rows = _weights(new.device)
    width = new.element_size()
    if width == 8:
        grown = _halves(new) - _halves(old)
        numbers = (positions.unsqueeze(1) << 1) + torch.arange(2, device=new.device)
    else:
        # All elements of a word but its last one are unsigned in it.
        each = 4 // width
        last = (positions & (each - 1)) == each - 1
        most = (1 << 8 * width) - 1
        new, old = new.long(), old.long()
        grown = torch.where(last, new - old, (new & most) - (old & most))
        grown <<= (positions & (each - 1)) * (8 * width)
        numbers = positions >> (each.bit_length() - 1)
    return (grown * in_row[numbers & (PERIOD - 1)] * of_rows[numbers >> _PERIOD_BITS]).sum()


def _halves(elements: Any) -> Any:
    return elements.contiguous().view(torch.int32).view(-1, 2).long()


def checksum(elements: Any, at: int = 0) -> int:
    """sum_of() as a number."""
    return int(sum_of(elements, at)) & _ALL


def _takes_rows(device: Any) -> bool:
    """Whether many rows are taken at once. On a host a row and its products stay in the cache."""
    return bool(device.type != "cpu")


def _dot(one: Any, other: Any) -> Any:
    """GPUs have no dot product of integers."""
    return (one * other).sum() if _takes_rows(one.device) else torch.dot(one, other)


def _words(elements: Any) -> Any:
    """As int32, the last one filled up with zero bytes."""
    width = elements.element_size()
    if width >= 4:
        return elements.contiguous().view(torch.int32)
    each = 4 // width
    left = elements.numel() % each
    if left:
        filled = elements.new_zeros(elements.numel() + each - left)
        filled[: elements.numel()] = elements
        return filled.view(torch.int32)
    elements = elements.contiguous()
    if elements.storage_offset() % each or elements.data_ptr() % 4:
        elements = elements.clone()
    return elements.view(torch.int32)
