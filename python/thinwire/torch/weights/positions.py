"""Ascending positions as gaps (spec/weights.md): a unit of 8 or 16 bits a gap, the largest of which
says that the gap goes on in the next unit."""

from typing import Any

import numpy as np
import torch

from thinwire.torch.weights.errors import Damaged

UNITS = {1: torch.uint8, 2: torch.int16}  # by bytes


def nonzero(mask: Any) -> Any:
    """The positions of what is true, ascending; on a host numpy is three times as fast."""
    if mask.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(mask.numpy()))
    return mask.nonzero().view(-1)


def gaps_of(positions: Any) -> Any:
    """How many elements lie between each and the one before it."""
    gaps = positions.clone()
    gaps[1:] -= positions[:-1] + 1
    return gaps


def bytes_of_gaps(gaps: Any) -> tuple[int, int]:
    """How many bytes the gaps take in units of 8 and of 16 bits."""
    if gaps.numel() == 0:
        return 0, 0
    # Most gaps are short, and divisions are slow.
    long = gaps[gaps >= 255]
    narrow = gaps.numel() + int((long // 255).sum())
    return narrow, 2 * (gaps.numel() + int((long // 65535).sum()))


def pack(gaps: Any, unit: int) -> Any:
    """The gaps in units of `unit` bytes, as a tensor of bytes."""
    if gaps.numel() == 0:
        return torch.empty(0, dtype=torch.uint8, device=gaps.device)
    largest = (1 << 8 * unit) - 1
    long = nonzero(gaps >= largest)
    more = gaps[long] // largest
    # The last unit of each gap, which comes after what longer gaps before it take.
    ends = torch.ones_like(gaps)
    ends[long] += more
    ends = ends.cumsum(0) - 1
    last = gaps.clone()
    last[long] -= more * largest
    # All bits of a unit that goes on are set, whatever its type.
    full = -1 if unit == 2 else 255
    units = torch.full((int(ends[-1]) + 1,), full, dtype=UNITS[unit], device=gaps.device)
    return units.scatter_(0, ends, last.to(UNITS[unit])).view(torch.uint8)


def unpack(data: Any, unit: int, count: int, elements: int) -> Any:
    """The `count` positions below `elements` that the bytes hold; Damaged if they hold others."""
    if data.numel() % unit:
        raise Damaged(f"{data.numel()} bytes of gaps in units of {unit}")
    largest = (1 << 8 * unit) - 1
    units = data.view(UNITS[unit]).long() & largest
    ends = nonzero(units != largest)
    if ends.numel() != count:
        raise Damaged(f"{ends.numel()} gaps for {count} changed elements")
    if count == 0:
        if units.numel():
            raise Damaged("gaps that do not end")
        return ends
    positions = units.cumsum(0)[ends] + torch.arange(count, device=data.device)
    if int(ends[-1]) != units.numel() - 1:
        raise Damaged("a last gap that does not end")
    if int(positions[-1]) >= elements:
        raise Damaged(f"position {int(positions[-1])} in a bucket of {elements} elements")
    return positions
