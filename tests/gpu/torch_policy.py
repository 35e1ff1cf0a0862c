"""Trains under `thinwire.torch` on GPU 0 and prints a line of JSON for each case.

    torch_policy.py hooks|preload

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are as torchrun sets them.
"""

import json
import sys
import time
from typing import Any

import torch
import torch.distributed as dist
import torch_training as training
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

import thinwire.torch as tt

STEPS = 8
EXACT = 1e-5  # sums of two in fp32 are nearer than this
GRADIENTS = {"gradients": "blockq", "parameters": "lossless"}
POLICIES: dict[str, Any] = {"none": None, "lossless": "lossless", "lossy": {"dp": GRADIENTS}}


def say(case: str, **what: Any) -> None:
    print(json.dumps({"case": case, **what}), flush=True)


def model_of(way: str, mesh: Any, dtype: torch.dtype) -> Any:
    net = training.new_model(torch.float32 if way == "fsdp2" else dtype)
    if way == "ddp":
        return DistributedDataParallel(net, process_group=mesh.get_group(), bucket_cap_mb=1)
    precision = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=dtype)
    for layer in net.layers:
        fully_shard(layer, mesh=mesh, mp_policy=precision)
    return fully_shard(net, mesh=mesh, mp_policy=precision)


def trained(model: Any, text: torch.Tensor) -> list[str]:
    step = training.step_with(model, torch.optim.AdamW(model.parameters(), lr=3e-4))
    places = torch.Generator().manual_seed(100 + dist.get_rank())
    losses = []
    for _ in range(STEPS):
        starts = torch.randint(len(text) - training.CONTEXT - 1, (8,), generator=places).tolist()
        given = torch.stack([text[at : at + training.CONTEXT] for at in starts])
        wanted = torch.stack([text[at + 1 : at + training.CONTEXT + 1] for at in starts])
        losses.append(step(given, wanted).hex())
    return losses


def counted() -> dict[str, dict[str, dict]]:
    return {
        group: {name: vars(row) for name, row in rows.items()} for group, rows in tt.stats().items()
    }


def hooks(text: torch.Tensor) -> None:
    """Each way without Thinwire, without loss, and with lossy gradients."""
    mesh = init_device_mesh("cuda", (dist.get_world_size(),), mesh_dim_names=("dp",))
    for way in ("ddp", "fsdp2"):
        for dtype in (torch.float32, torch.bfloat16):
            for kind, policy in POLICIES.items():
                model, modules = model_of(way, mesh, dtype), 0
                if policy is not None:
                    tt.set_policy(mesh, policy, min_bytes=1 << 14)
                    modules = tt.attach(model).modules
                    tt.stats(reset=True)
                losses = trained(model, text)
                told = counted().get("dp", {})
                say(f"{way}/{dtype}/{kind}", losses=losses, modules=modules, stats=told)
    tt.close()


def error_of_sums(values: torch.Tensor, group: dist.ProcessGroup, lossy: bool) -> float:
    """Of the last of many sums; all ranks have the same one. A lossy group's go on until they are
    compressed: how many are raw before depends on when the ranks' helpers have agreed."""
    exact = values.double()
    dist.all_reduce(exact)
    end = 10 if lossy else 1
    for _ in range(end):
        for _ in range(400):
            total = values.clone()
            dist.all_reduce(total, group=group)
        error = (total.double() - exact).abs().max().item()
        if error > EXACT:
            break
        time.sleep(1)
    return error


def preload(text: torch.Tensor) -> None:
    """Two groups of the same ranks with codecs of their own, then FSDP2 on a mesh with names."""
    names = ("one", "two", "dp_shard")
    rules = {"one": "blockq", "two": "off", "dp_shard": GRADIENTS}
    tt.preload_policy(rules, names)
    start()
    ranks = list(range(dist.get_world_size()))
    made = torch.Generator(training.DEVICE).manual_seed(dist.get_rank())
    values = torch.randn(1 << 18, generator=made, device=training.DEVICE)
    for name in ("one", "two"):
        group = dist.new_group(ranks, pg_options=tt.nccl_options(name))
        say(name, error=error_of_sums(values, group, lossy=name == "one"))
    mesh = init_device_mesh(
        "cuda",
        (len(ranks),),
        mesh_dim_names=("dp_shard",),
        backend_override=tt.mesh_options(("dp_shard",)),
    )
    model = model_of("fsdp2", mesh, torch.float32)
    modules = tt.attach(model).modules
    losses = [*trained(model, text), *trained(model, text)]
    say("fsdp2", modules=modules, losses=losses, stats=counted())


def start() -> None:
    torch.cuda.set_device(training.DEVICE)
    dist.init_process_group("nccl")


def main() -> None:
    torch.use_deterministic_algorithms(True)
    if sys.argv[1] == "preload":
        preload(training.text())
    else:
        start()
        hooks(training.text())
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
