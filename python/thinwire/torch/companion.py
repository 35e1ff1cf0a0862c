"""What ranks tell each other of themselves: over a group's companion, the same ranks over gloo,
which nobody else uses. What all must have set alike is compared when it is set."""

import pickle
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.constants import default_pg_timeout
from torch.distributed.distributed_c10d import _get_default_store

# How many have been made for each group, by torch's name for it. Names are never used again: what
# the store holds of an earlier one would be taken for the next one's.
_made: Counter[str] = Counter()


class Companion:
    """Ranks are those of `group`, in its order. Making one is collective over the group.

    Torch does not know of it. `new_group` would name it by how many groups each rank has, and
    ranks that are in different groups would not find each other.
    """

    def __init__(self, group: Any) -> None:
        name = group.group_name
        number = _made[name]
        _made[name] += 1
        store = dist.PrefixStore(f"thinwire/{name}/{number}", _get_default_store())
        self.rank, self.ranks = group.rank(), group.size()
        self.gloo = dist.ProcessGroupGloo(store, self.rank, self.ranks, default_pg_timeout)

    def gather(self, value: Any) -> list[Any]:
        """What each rank gives, by rank. Collective."""
        mine = torch.frombuffer(bytearray(pickle.dumps(value)), dtype=torch.uint8)
        sizes = self._gather_tensors(torch.tensor([mine.numel()]))
        most = max(int(size) for size in sizes)
        padded = torch.zeros(most, dtype=torch.uint8)
        padded[: mine.numel()] = mine
        parts = zip(self._gather_tensors(padded), sizes, strict=True)
        return [pickle.loads(part[: int(size)].numpy().tobytes()) for part, size in parts]

    def largest(self, numbers: list[float]) -> list[float]:
        """Over all ranks, each. Collective."""
        tensor = torch.tensor(numbers, dtype=torch.float64)
        self.gloo.allreduce([tensor], dist.ReduceOp.MAX).wait()
        return list(tensor.tolist())

    def _gather_tensors(self, tensor: Any) -> list[Any]:
        all_of_them = [torch.empty_like(tensor) for _ in range(self.ranks)]
        self.gloo.allgather([all_of_them], [tensor]).wait()
        return all_of_them


def gather(group: Any, value: Any) -> list[Any]:
    """What each rank of a group or a companion gives, by rank. Collective."""
    if isinstance(group, Companion):
        return group.gather(value)
    told: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(told, value, group=group)
    return told


class PolicyMismatch(RuntimeError):
    """The ranks gave different policies; the text names the first difference."""


def exchange(groups: Sequence[Any], said: str) -> dict[int, str]:
    """What each rank of the groups says, by its global rank. Collective over all of the groups, in
    their order; over those of a mesh, one a dimension, every rank learns of all ranks."""
    known = {dist.get_rank(): said}
    for group in groups:
        for each in gather(group, known):
            known.update(each)
    return known


def compare(groups: Sequence[Any], what: dict[str, Any], error: Exception | None) -> None:
    """Raises on every rank if `what` differs between ranks, or one has an `error`: its own there,
    PolicyMismatch on the others. Collective, so no rank may raise before."""
    said = f"error: {error}" if error is not None else _lines(what)
    known = exchange(groups, said)
    if error is not None:
        raise error
    for rank, text in sorted(known.items()):
        if text.startswith("error: "):
            raise PolicyMismatch(f"set_policy: rank {rank} has no policy: {text[7:]}")
    first = min(known)
    for rank, text in sorted(known.items()):
        if text != known[first]:
            raise PolicyMismatch(f"set_policy: {_difference(first, known[first], rank, text)}")


def _lines(what: dict[str, Any]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in what.items())


def _difference(first: int, one: str, rank: int, other: str) -> str:
    ours, theirs = dict(_pairs(one)), dict(_pairs(other))
    for key in (*ours, *theirs):
        if ours.get(key) != theirs.get(key):
            return (
                f"the ranks differ in {key}: {ours.get(key, 'none')} on rank {first}, "
                f"{theirs.get(key, 'none')} on rank {rank}"
            )
    return f"ranks {first} and {rank} differ"


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(key, value) for key, _, value in (line.partition(": ") for line in text.split("\n"))]
