"""`attach`: hooks into a model that DDP or FSDP2 has wrapped."""

import logging
from dataclasses import dataclass
from typing import Any

from torch.distributed.fsdp import FSDPModule, FullyShardedDataParallel
from torch.nn.parallel import DistributedDataParallel

from thinwire.statistics import preload_is_loaded
from thinwire.torch.ddp import DdpHook, ddp_hook
from thinwire.torch.feedback import ErrorFeedback
from thinwire.torch.fsdp import CompressedAllGather, CompressedReduceScatter, ReplicaAverage

_log = logging.getLogger("thinwire.torch")


@dataclass(frozen=True)
class Attached:
    """What `attach` hooked in: `modules` is how many modules have hooks, `feedback` the error
    feedback's state, None without."""

    modules: int
    hook: DdpHook | None = None
    feedback: ErrorFeedback | None = None


def attach(
    model: Any,
    *,
    name: str = "",
    error_feedback: bool | ErrorFeedback = False,
    replicate_group: Any = None,
) -> Attached:
    """Make a model's gradients and parameters travel as the policy of their group says. Call it
    once, after `set_policy()` and before the first step, on all ranks.

    `model` is a DistributedDataParallel, or a module that `fully_shard` was applied to (FSDP2), in
    which it finds all modules that have parameters of their own to gather. `name` is what policies
    know the group by: by default that of its mesh dimension, else "dp" for DDP and "dp_shard" for
    FSDP2. `error_feedback` is for DDP under lossy codecs: True, or an ErrorFeedback.
    `replicate_group` is for FSDP2 on a mesh of one dimension, whose modules have replicas: the
    group over which their gradients are averaged, so that this, too, goes by the policy. (The
    all-reduce of `fully_shard` on a mesh of two dimensions has no such hook: it is torch's own.)

    Where the preload library for NCCL is in the process, which carries what GPUs send already, a
    model on GPUs gets no hooks, and a line says so.

    Raises TypeError for another model, ValueError for arguments that do not fit it.
    """
    if preload_is_loaded() and any(each.device.type == "cuda" for each in model.parameters()):
        _log.warning(
            "attach: the preload library for NCCL compresses this model's traffic already, by the "
            "policy of THINWIRE_POLICY or thinwire.torch.preload_policy(): no hooks"
        )
        return Attached(0)
    if isinstance(model, DistributedDataParallel):
        if replicate_group is not None:
            raise ValueError("attach: replicate_group is for FSDP2; DDP has all replicas in one")
        return _attach_ddp(model, name, error_feedback)
    sharded = [module for module in model.modules() if isinstance(module, FSDPModule)]
    if not sharded:
        raise TypeError(_no_model(model))
    if error_feedback:
        raise ValueError(
            "attach: error feedback is for DDP: under FSDP2 each rank would keep as much as all "
            "unsharded gradients"
        )
    for module in sharded:
        module.set_custom_all_gather(CompressedAllGather(name))
        module.set_custom_reduce_scatter(CompressedReduceScatter(name))
        if replicate_group is not None:
            module.set_all_reduce_hook(ReplicaAverage(replicate_group))
    return Attached(len(sharded))


def _attach_ddp(model: Any, name: str, error_feedback: bool | ErrorFeedback) -> Attached:
    feedback = ErrorFeedback() if error_feedback is True else error_feedback or None
    if feedback is not None:
        feedback.know(model.module)
    hook = ddp_hook(model.process_group, name=name, error_feedback=feedback)
    hook.know(model)
    model.register_comm_hook(None, hook)
    return Attached(1, hook, feedback)


def _no_model(model: Any) -> str:
    if any(isinstance(module, FullyShardedDataParallel) for module in model.modules()):
        return (
            "attach: FSDP1 (FullyShardedDataParallel) has no hooks for its gathers and runs as "
            "without Thinwire; use fully_shard (FSDP2), or `thinwire run --nccl`"
        )
    return (
        f"attach: {type(model).__name__} is neither a DistributedDataParallel nor a module that "
        "fully_shard was applied to"
    )
