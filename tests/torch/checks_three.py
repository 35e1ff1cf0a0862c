"""Three ranks: groups that some ranks have and others not, and DDP's own arithmetic."""

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from training import bits_of, model, raises, train

import thinwire.torch as tt

WORDS, WIDTH = 1000, 64


class Sparse(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.words = nn.Embedding(WORDS, WIDTH, sparse=True)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, at: Any) -> Any:
        return self.out(self.words(at).mean(1))


def train_sparse(net: Any) -> bytes:
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(4):
        made = torch.Generator().manual_seed(100 * step + dist.get_rank())
        optimizer.zero_grad()
        net(torch.randint(0, WORDS, (8, 5), generator=made)).square().mean().backward()
        optimizer.step()
    return bits_of(net)


def train_dense(net: Any) -> bytes:
    train(net, 4)
    return bits_of(net)


def a_group_of_some_ranks_is_no_matter(_: Path) -> None:
    """Torch counts groups on each rank by itself, and names others by their number."""
    dist.new_group([0, 1])
    tt.set_policy(None, "lossless", min_bytes=1 << 10)
    net = DistributedDataParallel(model())
    tt.attach(net)
    train(net, 2)
    tt.close()


def hooks_begin_anew_after_a_group_has_ended(_: Path) -> None:
    before = dist.new_group([0, 1, 2])
    tt.set_policy(None, "lossless", min_bytes=1 << 10)
    net = DistributedDataParallel(model())
    tt.attach(net)
    train(net, 2)
    tt.close()
    dist.destroy_process_group(before)
    train(net, 2)
    tt.close()


def what_goes_raw_is_as_ddp_has_it(_: Path) -> None:
    """To the bit, though a third is no binary number: DDP multiplies dense gradients by it."""
    for made, trained in ((model, train_dense), (Sparse, train_sparse)):
        alone = trained(DistributedDataParallel(made()))
        tt.set_policy(None, "off")
        net = DistributedDataParallel(made())
        tt.attach(net)
        assert trained(net) == alone, made
    tt.close()


def a_join_that_divides_by_who_is_left_is_refused(_: Path) -> None:
    tt.set_policy(None, "off")
    net = DistributedDataParallel(model())
    tt.attach(net)
    with net.join():
        train(net, 1)

    def by_who_is_left() -> None:
        with net.join(divide_by_initial_world_size=False):
            train(net, 1)

    raises(RuntimeError, "divide_by_initial_world_size=False", by_who_is_left)


CHECKS = [
    a_group_of_some_ranks_is_no_matter,
    hooks_begin_anew_after_a_group_has_ended,
    what_goes_raw_is_as_ddp_has_it,
    a_join_that_divides_by_who_is_left_is_refused,
]
