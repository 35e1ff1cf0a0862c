"""Which elements of a bucket differ from those kept: bits are compared, never values."""

from typing import Any

import numpy as np
import torch

from thinwire.torch.weights.buckets import Bucket
from thinwire.torch.weights.positions import nonzero

# 64-bit words that a host compares at once: both sides stay in a core's cache.
_WORDS_AT_ONCE = 1 << 16
_LOOKED_AT, _DENSE = 1 << 12, 0.1


def advance(bucket: Bucket, kept: Any, device: Any) -> tuple[Any, Any, Any]:
    """The positions of the elements that differ, ascending, and their new and old bits, all on
    `device`; `kept`, a flat tensor anywhere, has the new ones then."""
    if device.type == "cpu" and all(piece.bits.device.type == "cpu" for piece in bucket.pieces):
        return advance_on_host(bucket, kept)
    return advance_anywhere(bucket, kept, device)


def advance_anywhere(bucket: Bucket, kept: Any, device: Any) -> tuple[Any, Any, Any]:
    """As advance(), by torch's operations. All elements are copied to `kept`: from a GPU to the
    host that takes less time than to write those that differ there one by one."""
    before = kept.to(device, non_blocking=True)
    now = bucket.gather(torch.empty(bucket.elements, dtype=bucket.dtype, device=device))
    positions = nonzero(now != before)
    new, old = now[positions], before[positions]
    kept.copy_(now, non_blocking=True)
    return positions, new, old


def advance_on_host(bucket: Bucket, kept: Any) -> tuple[Any, Any, Any]:
    """As advance(), in one pass over the memory, block by block."""
    found: list[tuple[Any, Any, Any]] = []
    old = kept.numpy()
    for piece in bucket.pieces:
        new = piece.read(kept.device).numpy()
        count = len(new) * bucket.width // 8 * 8 // bucket.width
        if new.ctypes.data % 8 == 0:
            found += _words(new[:count], old[piece.at : piece.at + count], piece.at)
        else:
            count = 0
        rest = old[piece.at + count : piece.end]
        at = np.flatnonzero(new[count:] != rest)
        found.append((at + (piece.at + count), new[count:][at], rest[at]))
        rest[at] = new[count:][at]
    columns = zip(*found, strict=True)
    positions, changed, before = (torch.from_numpy(np.concatenate(each)) for each in columns)
    return positions, changed, before


def _words(new: Any, old: Any, at: int) -> list[tuple[Any, Any, Any]]:
    """As advance(), of elements that fill words of 64 bits and lie from `at` on."""
    each = 8 // new.itemsize
    ours, theirs = new.view(np.int64), old.view(np.int64)
    differs = np.empty(_WORDS_AT_ONCE, dtype=bool)
    found = []
    for begin in range(0, len(ours), _WORDS_AT_ONCE):
        block = slice(begin, min(begin + _WORDS_AT_ONCE, len(ours)))
        mask = np.not_equal(ours[block], theirs[block], out=differs[: block.stop - begin])
        hits = np.flatnonzero(mask)
        if not len(hits):
            continue
        hits += begin
        changed, before = ours[hits].view(new.dtype), theirs[hits].view(new.dtype)
        theirs[hits] = ours[hits]
        within = np.flatnonzero(changed != before)
        positions = hits[within // each] * each + within % each + at
        found.append((positions, changed[within], before[within]))
    return found


def is_dense(bucket: Bucket, kept: Any, device: Any) -> bool:
    """Whether so many of some elements differ that a list of all that do would be long. What it
    says costs time if it is wrong, and no byte."""
    differ, looked_at = torch.zeros((), device=device), 0
    for piece in bucket.pieces:
        step = max(1, bucket.elements // _LOOKED_AT)
        before = kept[piece.at : piece.end : step].to(device)
        differ += (piece.read(device)[::step] != before).sum()
        looked_at += before.numel()
    return float(differ) > _DENSE * looked_at
