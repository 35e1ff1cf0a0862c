"""The baseline that earlier studies compare with: DDP's sums as a ring of messages, each of which a
compression library codes on its own, hop by hop.

    thinwire run --codec zfp:rate=8 -- torchrun ... gpt_data_parallel.py --way ddp --per-hop

A sum is coded anew on each hop, and a rank keeps its own part uncoded: under a lossy codec errors
add up with the ranks, whose results differ.
"""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist


class RingHook:
    """A communication hook of DDP: `model.register_comm_hook(None, RingHook(group))`."""

    def __init__(self, group: Any) -> None:
        self.group = group
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        to, of = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        self.next, self.last = (dist.get_global_rank(group, each) for each in (to, of))
        self.stream = torch.cuda.Stream() if torch.cuda.is_available() else None
        # DDP reads and logs them.
        self.__name__ = self.__qualname__ = "ring_hook"

    def __call__(
        self, state: object, bucket: dist.GradBucket
    ) -> torch.futures.Future[torch.Tensor]:
        """A Future of the bucket's average over the group."""
        flat = bucket.buffer()
        flat.div_(self.ranks)
        if not flat.is_cuda:
            future: Any = torch.futures.Future()
            self.add_up(flat)
            future.set_result(flat)
            return future
        # On a stream of its own, so that the backward pass goes on.
        assert self.stream is not None
        self.stream.wait_stream(torch.cuda.current_stream())
        future = torch.futures.Future(devices=[flat.device])
        with torch.cuda.stream(self.stream):
            flat.record_stream(self.stream)
            self.add_up(flat)
            future.set_result(flat)
        return future

    def add_up(self, flat: torch.Tensor) -> None:
        """Makes of all ranks' `flat` their sum, in place."""
        parts = flat.tensor_split(self.ranks)
        room = torch.empty_like(parts[0])  # none is larger
        for step in range(self.ranks - 1):
            sent, come = parts[self.rank - step], parts[self.rank - step - 1]
            into = room[: come.numel()]
            self.exchange(sent, into)
            come.add_(into)
        # The part after this rank's own is whole here now.
        for step in range(self.ranks - 1):
            self.exchange(parts[(self.rank + 1 - step) % self.ranks], parts[self.rank - step])

    def exchange(self, sent: torch.Tensor, into: torch.Tensor) -> None:
        wanted: Iterable[Any] = ((dist.isend, sent, self.next), (dist.irecv, into, self.last))
        calls = [
            dist.P2POp(way, values, peer, self.group)
            for way, values, peer in wanted
            if values.numel() > 0
        ]
        for request in dist.batch_isend_irecv(calls) if calls else ():
            request.wait()
