"""Trains a GPT over bytes, all of whose ranks have the same layers: under FSDP2 or DDP.

    torchrun --nproc-per-node 2 gpt_data_parallel.py --size 100M --dtype bf16

--dtype is that of what travels: parameters and gradients under FSDP2, gradients under DDP.
--per-hop has DDP's sums travel as messages (ring.py).
"""

import os
from collections.abc import Callable
from typing import Any

import torch
from common import Job, Text, parser
from gpt import CONTEXT, SIZES, Gpt, loss_of, parameters_of
from ring import RingHook
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel


def sharded(model: Gpt, mesh: Any, dtype: torch.dtype) -> Gpt:
    """Parameters and gradients travel as `dtype`; the optimizer has them in fp32."""
    precision = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=dtype)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=precision)
    return fully_shard(model, mesh=mesh, mp_policy=precision)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--size", choices=SIZES, default="tiny")
    options.add_argument("--way", choices=("fsdp2", "ddp"), default="fsdp2")
    options.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32")
    options.add_argument("--per-hop", action="store_true", help="DDP's sums by a ring of messages")
    options.add_argument("--rate", type=float, default=3e-4, help="the learning rate")
    given = options.parse_args()
    if given.per_hop and (given.way != "ddp" or given.policy):
        options.error("--per-hop is for --way ddp, without a policy")
    dtype = torch.bfloat16 if given.dtype == "bf16" else torch.float32
    job = Job(given, ("dp_shard" if given.way == "fsdp2" else "dp",))
    mesh, text = job.mesh(job.ranks), Text(job.device, CONTEXT)

    for policy, seed in job.runs():
        net = Gpt(given.size).to(job.device)
        count = parameters_of(net)
        if given.way == "fsdp2":
            model: Any = sharded(net, mesh, dtype)
        else:
            model = DistributedDataParallel(net.to(dtype), process_group=mesh.get_group())
        optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate)
        job.compress(model, mesh, policy)
        if given.per_hop:
            model.register_comm_hook(None, RingHook(mesh.get_group()))
            policy = f"per-hop {os.environ.get('THINWIRE_CODEC', 'off')}"

        def step(number: int, model=model, optimizer=optimizer, seed=seed) -> torch.Tensor:
            inputs, wanted = text.draw(given.batch, seed, number, job.rank)
            optimizer.zero_grad()
            loss = loss_of(model(inputs), wanted)
            loss.backward()
            optimizer.step()
            return loss

        losses, measured = job.train(step)
        validation = validate(model, text)
        if given.share:
            alone = computation(given, job, model, optimizer, text, dtype)
            measured |= job.share(measured["step_ms"], alone)
        figures = {"parameters": count, "losses": losses, "validation": validation, **measured}
        kind = f"gpt {given.size} {given.way} {given.dtype}"
        job.tell(example=kind, policy=policy, seed=seed, **figures)
    job.end()


@torch.no_grad()
def validate(model: Any, text: Text) -> float:
    """The loss on bytes that no rank has trained on, all ranks on the same."""
    drawn = [text.draw(16, -1, number, of="unknown") for number in range(4)]
    told = [loss_of(model(inputs), wanted).item() for inputs, wanted in drawn]
    return sum(told) / len(told)


def computation(
    given: Any, job: Job, model: Any, optimizer: Any, text: Text, dtype: torch.dtype
) -> Callable[[], None]:
    """A step's without other ranks: forward and backward of an unsharded model, and the update of
    what this rank has."""
    whole = Gpt(given.size).to(job.device, dtype)
    inputs, wanted = text.draw(given.batch, 0)

    def alone() -> None:
        whole.zero_grad()
        loss_of(whole(inputs), wanted).backward()
        optimizer.step()

    return alone


if __name__ == "__main__":
    main()
