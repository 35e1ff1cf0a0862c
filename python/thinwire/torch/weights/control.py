"""The small words of a sync, over a group's companion: who has what, headers, and agreements."""

from enum import IntEnum
from typing import Any

import torch
import torch.distributed as dist

from thinwire.torch import channel
from thinwire.torch.companion import Companion
from thinwire.torch.weights.checksum import signed
from thinwire.torch.weights.record import HEADER_BYTES

_ALL = (1 << 64) - 1


# One for all syncs of a group: a rank whose words differ from the others' then hears of it, and
# does not wait for a companion that the others do not make.
_companions: dict[Any, Companion] = {}
channel.at_close.append(_companions.clear)


class Level(IntEnum):
    """What a rank says of a bucket; the least of all ranks' holds."""

    FAILED = 0
    WHOLE = 1  # its tensors are not those that the record is for
    GOOD = 2


class Control:
    """Each call is collective over `group`, in the same order on all ranks, as is the first
    Control of a group. `root` is the source's rank in it."""

    def __init__(self, group: Any, root: int) -> None:
        if group not in _companions:
            _companions[group] = Companion(group)
        self.companion = _companions[group]
        self.root = root
        self.is_root = self.companion.rank == root

    def gather(self, words: list[int]) -> list[list[int]]:
        """What each rank gives, unsigned words of 64 bits, as many on each."""
        mine = torch.tensor([signed(word) for word in words])
        told = [torch.empty_like(mine) for _ in range(self.companion.ranks)]
        self.companion.gloo.allgather([told], [mine]).wait()
        return [[word & _ALL for word in each.tolist()] for each in told]

    def header(self, data: bytes | None) -> bytes:
        """The source's."""
        tensor = torch.zeros(HEADER_BYTES, dtype=torch.uint8)
        if data is not None:
            tensor = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        options = dist.BroadcastOptions()
        options.rootRank = self.root
        self.companion.gloo.broadcast([tensor], options).wait()
        return tensor.numpy().tobytes()

    def agree(self, level: Level) -> Level:
        tensor = torch.tensor([int(level)])
        self.companion.gloo.allreduce([tensor], dist.ReduceOp.MIN).wait()
        return Level(int(tensor.item()))

    def texts(self, text: Any) -> list[Any]:
        return self.companion.gather(text)
