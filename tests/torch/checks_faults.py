"""Two ranks: what is done once, and damages the job: a rank that dies, a channel that is closed."""

import gc
import os
import threading
from pathlib import Path

import torch
import torch.distributed as dist
from checks_ddp import LEAST
from torch.nn.parallel import DistributedDataParallel
from training import model, train

import thinwire
import thinwire.torch as tt
from thinwire.torch.companion import Companion
from thinwire.torch.transport import over_companion


def forgotten(_: Path) -> None:
    """A communicator that goes without close() calls its transport's functions once more."""
    for _turn in range(3):
        group = dist.new_group([0, 1], backend="gloo")
        transport = over_companion(Companion(group))
        communicator = thinwire.Communicator(transport, codec="blockq", threshold=0)
        values, sums = torch.ones(50_000), torch.empty(50_000)
        assert communicator.Allreduce(values, sums).compressed
        assert sums.sub(2).abs().max() < 0.05
        del communicator
        gc.collect()
        left = {thread.name for thread in threading.enumerate()}
        assert not left & {"thinwire-to-0", "thinwire-to-1"}, left


def closed_and_used_again(_: Path) -> None:
    tt.set_policy(None, "lossless", min_bytes=LEAST)
    net = DistributedDataParallel(model())
    tt.attach(net)
    train(net, 2)
    before = {thread.name for thread in threading.enumerate()}
    assert "thinwire-dp" in before
    tt.close()
    left = [t.name for t in threading.enumerate() if t.name == "thinwire-dp"]
    assert not left, left
    train(net, 2)


def a_rank_dies(folder: Path) -> None:
    """The other's backward pass raises, and names the group; it does not wait for ever."""
    tt.set_policy(None, "lossless", min_bytes=LEAST)
    net = DistributedDataParallel(model(), bucket_cap_mb=0.1)
    tt.attach(net)
    train(net, 2)
    if dist.get_rank() == 1:
        os._exit(9)
    loss = net(torch.ones(2, 96)).mean()
    try:
        loss.backward()
    except RuntimeError as error:
        (folder / "said").write_text(str(error))
        os._exit(7)  # no more of this job: its groups are broken
    raise AssertionError("the backward pass went on without the other rank")


CHECKS = [forgotten, closed_and_used_again, a_rank_dies]
