"""Small models and steps that the checks share."""

import logging
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

WIDTH = 96


def model(depth: int = 3, dtype: Any = torch.float32) -> nn.Module:
    """The same on all ranks."""
    torch.manual_seed(3)
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(WIDTH, WIDTH * 2), nn.ReLU(), nn.Linear(WIDTH * 2, WIDTH)]
    return nn.Sequential(*layers).to(dtype)


def batch(step: int, dtype: Any = torch.float32) -> Any:
    """Each rank's own."""
    made = torch.Generator().manual_seed(1000 * step + dist.get_rank())
    return torch.randn(16, WIDTH, generator=made).to(dtype)


def train(net: Any, steps: int, optimizer: Any = None, dtype: Any = torch.float32) -> list[float]:
    """This rank's losses: learning to halve what comes in."""
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for step in range(steps):
        x = batch(step, dtype)
        loss = (net(x) - x / 2).float().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def bits_of(net: Any) -> bytes:
    """All parameters' bytes; of sharded ones this rank's."""
    parts = []
    for parameter in net.parameters():
        local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
        parts.append(local.detach().contiguous().view(torch.uint8).numpy().tobytes())
    return b"".join(parts)


def same_on_all_ranks(bits: bytes, group: Any = None) -> bool:
    told: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(told, bits, group=group)
    return all(each == bits for each in told)


def raises(kind: type[BaseException], words: str, call: Any) -> None:
    try:
        call()
    except kind as error:
        assert words in str(error), str(error)
        return
    raise AssertionError(f"no {kind.__name__} of {words!r}")


class Said(logging.Handler):
    """The warnings of thinwire.torch inside a `with`."""

    def __enter__(self) -> list[str]:
        self.lines: list[str] = []
        logging.getLogger("thinwire.torch").addHandler(self)
        return self.lines

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self.lines.append(record.getMessage())

    def __exit__(self, *_: object) -> None:
        logging.getLogger("thinwire.torch").removeHandler(self)
