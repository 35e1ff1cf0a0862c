"""A group's companion: the same ranks over gloo, which nobody else uses."""

import pickle
from collections import Counter
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
