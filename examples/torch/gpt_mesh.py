"""Trains the GPT on a mesh of pipeline-, data- and tensor-parallel ranks.

    torchrun --nproc-per-node 4 gpt_mesh.py --pp 1 --dp 2 --tp 2 --policy mzhybrid

FSDP2 shards over the data-parallel ranks. Under the preload library for NCCL the policy holds for
all three dimensions; without it for the data-parallel one, whose hooks torch has.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from common import Job, Text, parser
from gpt import CONTEXT, SIZES, Gpt, loss_of, parameters_of
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

# Parts of a layer of which each tensor-parallel rank has a share.
SPLIT = {
    "q": ColwiseParallel(),
    "k": ColwiseParallel(),
    "v": ColwiseParallel(),
    "out": RowwiseParallel(),
    "wide": ColwiseParallel(),
    "narrow": RowwiseParallel(),
}
NAMES = ("pp", "dp", "tp")


def parallel(model: Gpt, mesh: Any, dtype: torch.dtype) -> Gpt:
    precision = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=dtype)
    for layer in model.layers:
        if mesh["tp"].size() > 1:
            parallelize_module(layer, mesh["tp"], SPLIT)
        fully_shard(layer, mesh=mesh["dp"], mp_policy=precision)
    return fully_shard(model, mesh=mesh["dp"], mp_policy=precision)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--size", choices=SIZES, default="tiny")
    options.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32")
    options.add_argument("--rate", type=float, default=3e-4, help="the learning rate")
    options.add_argument("--micro", type=int, default=2, help="micro-batches of a pipeline")
    for name in NAMES:
        options.add_argument(f"--{name}", type=int, default=1)
    given = options.parse_args()
    dtype = torch.bfloat16 if given.dtype == "bf16" else torch.float32
    job = Job(given, NAMES)
    mesh, text = job.mesh(given.pp, given.dp, given.tp), Text(job.device, CONTEXT)
    at = {name: mesh.get_local_rank(name) for name in NAMES}
    last = at["pp"] == given.pp - 1

    for policy, seed in job.runs():
        whole = Gpt(given.size)
        count = parameters_of(whole)
        part = whole.stage(at["pp"], given.pp).to(job.device)
        model = parallel(part, mesh, dtype)
        optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate)
        job.compress(model, mesh, policy)
        pipeline = None
        if given.pp > 1:
            stage = PipelineStage(model, at["pp"], given.pp, job.device, group=mesh.get_group("pp"))
            pipeline = Schedule1F1B(stage, given.micro, loss_fn=loss_of)

        def step(
            number: int, model=model, optimizer=optimizer, pipeline=pipeline, seed=seed
        ) -> torch.Tensor:
            # Ranks that differ in "dp" alone have different samples.
            inputs, wanted = text.draw(given.batch, seed, number, at["dp"])
            optimizer.zero_grad()
            if pipeline is None:
                loss = loss_of(model(inputs), wanted)
                loss.backward()
            else:
                told: list[torch.Tensor] = []
                pipeline.step(*([inputs] if at["pp"] == 0 else []), target=wanted, losses=told)
                # The loss of the last stage; it counts for all.
                loss = torch.stack(told).mean() * given.pp if last else torch.zeros(())
            optimizer.step()
            return loss.detach().to(job.device)

        losses, measured = job.train(step)
        if given.share:
            alone = computation(given, job, at, optimizer, text, dtype)
            measured |= job.share(measured["step_ms"], alone)
        figures = {"parameters": count, "losses": losses, **measured}
        kind = f"gpt {given.size} pp{given.pp} dp{given.dp} tp{given.tp} {given.dtype}"
        job.tell(example=kind, policy=policy, seed=seed, same=same_over(mesh, model), **figures)
    job.end()


def computation(
    given: Any, job: Job, at: dict[str, int], optimizer: Any, text: Text, dtype: torch.dtype
) -> Callable[[], None]:
    """A step's without other ranks: forward and backward of what this rank has of the model, with
    the micro-batches that its stage waits for the others, and the update."""
    part = Gpt(given.size).stage(at["pp"], given.pp)
    for layer in part.layers:
        for name in SPLIT:
            setattr(layer, name, split(getattr(layer, name), SPLIT[name], given.tp))
    part.to(job.device, dtype)
    inputs, wanted = text.draw(given.batch, 0)
    if at["pp"] > 0:
        width = SIZES[given.size][1]
        inputs = torch.randn(*inputs.shape, width, device=job.device, dtype=dtype)
        inputs.requires_grad_()
    micro = given.micro if given.pp > 1 else 1
    each = list(zip(inputs.chunk(micro), wanted.chunk(micro), strict=True))
    each += each[:1] * (given.pp - 1)

    def alone() -> None:
        part.zero_grad()
        for some, answers in each:
            out = part(some)
            (out.sum() if part.head is None else loss_of(out, answers)).backward()
        optimizer.step()

    return alone


def split(layer: nn.Linear, way: Any, ranks: int) -> nn.Linear:
    """As much of it as one tensor-parallel rank has."""
    out, of = layer.weight.shape
    if isinstance(way, ColwiseParallel):
        return nn.Linear(of, out // ranks, bias=layer.bias is not None)
    return nn.Linear(of // ranks, out, bias=layer.bias is not None)


def same_over(mesh: Any, model: Any) -> bool:
    """Whether tensor-parallel ranks have equal bits where they have the same parameters."""
    whole = [each for each in model.parameters() if "tp" not in each.device_mesh.mesh_dim_names]
    total = torch.stack([each.to_local().double().sum() for each in whole])
    lowest, highest = total.clone(), total.clone()
    dist.all_reduce(lowest, dist.ReduceOp.MIN, group=mesh.get_group("tp"))
    dist.all_reduce(highest, dist.ReduceOp.MAX, group=mesh.get_group("tp"))
    return torch.equal(lowest, highest)


if __name__ == "__main__":
    main()
