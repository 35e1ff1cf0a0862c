"""Trains small models on all ranks and prints a line of JSON for each way: its name and the losses
of its steps, as exact numbers. It knows nothing of Thinwire.

    torch_training.py WAY...   ddp, ddp-bf16, zero (DDP with a sharded optimizer) or fsdp2

RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT are as torchrun sets them; a rank uses
the GPU that its local one says.
"""

import json
import os
import pydoc_data.topics
import sys
from collections.abc import Callable

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

WIDTH, LAYERS, CONTEXT, BATCH = 256, 6, 64, 8
DEVICE = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
Step = Callable[[torch.Tensor, torch.Tensor], float]


class Layer(nn.Module):
    """Attention, written out: torch's own kernels for it add in any order backwards."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(self.before(x)).view(*x.shape[:2], 3, 4, WIDTH // 4).permute(2, 0, 3, 1, 4)
        q, k, v = heads[0], heads[1], heads[2]
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        weights = (q @ k.transpose(-1, -2) / 8).masked_fill(later, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(x.shape))
        return x + self.narrow(F.gelu(self.wide(self.between(x))))


def one_hot(given: torch.Tensor) -> torch.Tensor:
    return given[..., None] == torch.arange(256, device=given.device)


class Model(nn.Module):
    """Of bytes. Their embedding is a product too, whose gradient has an order of additions."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(256, WIDTH, bias=False)
        self.place = nn.Parameter(torch.randn(CONTEXT, WIDTH) * 0.02)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 256, bias=False)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        x = self.embed(one_hot(given).to(self.embed.weight.dtype)) + self.place
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def text() -> torch.Tensor:
    """English that every Python has."""
    return torch.tensor(
        list("".join(pydoc_data.topics.topics.values()).encode()[:400_000]), device=DEVICE
    )


def new_model(dtype: torch.dtype) -> nn.Module:
    torch.manual_seed(1)
    return Model().to(DEVICE, dtype)


def loss_of(model: nn.Module, given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    likely = model(given).float().log_softmax(-1)
    return -(likely * one_hot(wanted)).sum(-1).mean()


def step_with(model: nn.Module, optimizer: torch.optim.Optimizer) -> Step:
    def step(given: torch.Tensor, wanted: torch.Tensor) -> float:
        optimizer.zero_grad()
        loss = loss_of(model, given, wanted)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def ddp(dtype: torch.dtype, zero: bool = False) -> Step:
    # Buckets of a MiB: many calls of a few sizes.
    model = DistributedDataParallel(new_model(dtype), device_ids=[DEVICE.index], bucket_cap_mb=1)
    if zero:
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=3e-4)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    return step_with(model, optimizer)


def fsdp2() -> Step:
    model = new_model(torch.float32)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    return step_with(model, torch.optim.AdamW(model.parameters(), lr=3e-4))


WAYS: dict[str, tuple[Callable[[], Step], int]] = {
    "ddp": (lambda: ddp(torch.float32), 14),
    "ddp-bf16": (lambda: ddp(torch.bfloat16), 24),
    "zero": (lambda: ddp(torch.float32, zero=True), 10),
    "fsdp2": (fsdp2, 16),
}


def train(way: str, data: torch.Tensor) -> None:
    make, steps = WAYS[way]
    step = make()
    # Every rank has other data.
    places = torch.Generator().manual_seed(100 + dist.get_rank())
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(data) - CONTEXT - 1, (BATCH,), generator=places).tolist()
        given = torch.stack([data[at : at + CONTEXT] for at in starts])
        wanted = torch.stack([data[at + 1 : at + CONTEXT + 1] for at in starts])
        losses.append(step(given, wanted))
    print(json.dumps({"way": way, "losses": [loss.hex() for loss in losses]}), flush=True)


def main() -> None:
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.cuda.set_device(DEVICE)
    dist.init_process_group("nccl")
    data = text()
    for way in sys.argv[1:]:
        train(way, data)
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
