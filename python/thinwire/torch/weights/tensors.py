"""The tensors that are synced, as integers of their bits, and how those of ranks differ."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from thinwire.torch.weights.errors import WeightsError

INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by bytes


@dataclass(frozen=True)
class Entry:
    """A tensor with bytes of its own: `bits` is a view of its memory, of any strides."""

    name: str
    bits: Any

    @property
    def width(self) -> int:
        return int(self.bits.element_size())


@dataclass(frozen=True)
class Tensors:
    """`lines` says of each name what it is; those that are all the same on two ranks have the
    same entries there, in the same order."""

    entries: list[Entry]
    lines: dict[str, str]

    @property
    def digest(self) -> int:
        text = "\n".join(f"{name}: {line}" for name, line in self.lines.items())
        told = text.encode("utf-8", "surrogatepass")  # a name may be any string of Python's
        return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")


def tensors_of(source: Any) -> Tensors:
    """Those of a module, its buffers included, or of a mapping from names to tensors. TypeError
    and ValueError for what cannot be synced."""
    named = _named(source)
    entries: list[Entry] = []
    lines: dict[str, str] = {}
    first: dict[Any, str] = {}
    for name in sorted(named):
        tensor = named[name]
        _check(name, tensor)
        lines[name] = f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
        if tensor.numel() == 0:
            continue
        bits = _bits(tensor)
        if bits.numel() * bits.element_size() != tensor.numel() * tensor.element_size():
            lines[name] += f" of {bits.numel() * bits.element_size()} bytes, expanded"
        place = (bits.data_ptr(), tuple(bits.shape), bits.stride(), tensor.dtype, bits.device)
        if place in first:
            lines[name] += f", the memory of {first[place]}"
            continue
        first[place] = name
        entries.append(Entry(name, bits))
    _check_overlaps(entries)
    # Buckets are of one width, and the order is the same on all ranks.
    entries.sort(key=lambda entry: (-entry.width, entry.name))
    return Tensors(entries, lines)


def difference(one: Mapping[str, str], other: Mapping[str, str], here: str, there: str) -> str:
    """The first, in words."""
    for name in (*one, *other):
        ours, theirs = one.get(name, "missing"), other.get(name, "missing")
        if ours != theirs:
            return f"{name} is {ours} on {here}, {theirs} on {there}"
    return f"{here} and {there} differ in no tensor"


def _named(source: Any) -> dict[str, Any]:
    if isinstance(source, torch.nn.Module):
        named = dict(source.named_parameters(remove_duplicate=False))
        return named | dict(source.named_buffers(remove_duplicate=False))
    if isinstance(source, Mapping):
        return dict(source)
    raise TypeError(f"{type(source).__name__} is neither a module nor a mapping of tensors")


def _check(name: Any, tensor: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name {name!r} is no str")
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name} is a {type(tensor).__name__}, no tensor")
    if hasattr(tensor, "to_local"):
        raise TypeError(
            f"{name} is sharded (DTensor): give whole tensors, as full_tensor() and "
            "get_model_state_dict() with full_state_dict make them"
        )
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        raise TypeError(f"{name} is no dense tensor in memory")
    if tensor.is_conj() or tensor.is_neg():
        raise TypeError(f"{name} is a view that conjugates or negates: resolve it")


def _bits(tensor: Any) -> Any:
    """A view as integers: floats that are copied or compared as such may lose bits."""
    bits = tensor.detach()
    if bits.is_complex():
        bits = torch.view_as_real(bits)
    for dimension in reversed(range(bits.dim())):
        if bits.stride(dimension) == 0:  # expanded: all of these are one element of memory
            bits = bits.select(dimension, 0)
    return bits.view(INTEGERS[bits.element_size()])


def _check_overlaps(entries: list[Entry]) -> None:
    """A delta would be applied twice to memory that two elements have in part."""
    last: list[Entry] = []
    end: tuple[str, int] = ("", 0)
    for entry in sorted(entries, key=lambda each: (str(each.bits.device), each.bits.data_ptr())):
        begin = (str(entry.bits.device), entry.bits.data_ptr())
        if not last or begin[0] != end[0] or begin[1] >= end[1]:
            last, end = [], begin
        last.append(entry)
        end = max(end, (begin[0], begin[1] + _reach(entry.bits)))
        if len(last) > 1 or _reach(entry.bits) < entry.bits.numel() * entry.width:
            _check_bytes(last)


def _reach(bits: Any) -> int:
    """The bytes from the first element to the end of the last one."""
    steps = zip(bits.shape, bits.stride(), strict=True)
    reach = 1 + sum((size - 1) * step for size, step in steps)
    return int(reach * bits.element_size())


def _check_bytes(entries: list[Entry]) -> None:
    """Raises if two elements share a byte. Views that lie between each other, as the parts of a
    matrix's rows, share none."""
    first = entries[0].bits.data_ptr()
    most = max(entry.bits.data_ptr() - first + _reach(entry.bits) for entry in entries)
    owner = torch.zeros(most, dtype=torch.int32)
    for number, entry in enumerate(entries, 1):
        shape = (*entry.bits.shape, entry.width)
        strides = (*(step * entry.width for step in entry.bits.stride()), 1)
        mine = owner.as_strided(shape, strides, entry.bits.data_ptr() - first)
        other = int(mine.max())
        if other or _reach(entry.bits) < entry.bits.numel() * entry.width:
            one, two = sorted((entries[(other or number) - 1].name, entry.name))
            raise ValueError(
                f"{one} and {two} share a part of their memory: give one of them, or views of the "
                "same shape and strides"
            )
        mine.fill_(number)


def check_same(told: list[tuple[str, dict[str, str]]], ranks: list[int], source: int) -> None:
    """Raises, alike on all ranks, if one could not name its tensors or has other ones."""
    for rank, (error, _) in zip(ranks, told, strict=True):
        if error:
            raise WeightsError(f"sync_weights: rank {rank}: {error}")
    wanted = told[source][1]
    for rank, (_, lines) in zip(ranks, told, strict=True):
        if lines != wanted:
            found = difference(wanted, lines, f"rank {ranks[source]}", f"rank {rank}")
            raise WeightsError(f"sync_weights: the ranks' tensors differ: {found}")
