"""FSDP2 (`fully_shard`): all-gathers and reduce-scatters that go by the policy."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from thinwire.torch import stats
from thinwire.torch.collectives import Plans, all_gather, all_reduce, reduce_scatter
from thinwire.torch.ddp import GroupPlans
from thinwire.torch.groups import name_of


class Done(dist.Work):
    """The Work of a compressed call."""

    def __init__(self, future: Any) -> None:
        super().__init__()
        self._future = future

    def wait(self, timeout: Any = None) -> bool:
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        return bool(self._future.done())

    def get_future(self) -> Any:
        return self._future


class _Comm:
    def __init__(self, name: str) -> None:
        self._name = name
        self._groups: dict[Any, GroupPlans] = {}

    def allocate(self, size: Sequence[int], *, dtype: Any, device: Any) -> Any:
        return torch.empty(*size, dtype=dtype, device=device)

    def _plans(self, group: Any) -> Plans:
        if group not in self._groups:
            self._groups[group] = GroupPlans(group, self._name or name_of(group, "dp_shard"))
        return self._groups[group].now()


class CompressedAllGather(_Comm):
    """For `FSDPModule.set_custom_all_gather`; the group's name for policies is `name`, by default
    that of its mesh dimension, else "dp_shard"."""

    def __init__(self, name: str = "") -> None:
        super().__init__(name)

    def __call__(
        self, output_tensor: Any, input_tensor: Any, group: Any, async_op: bool = False
    ) -> Any:
        plans = self._plans(group)
        choice = plans.choose("allgather", output_tensor)
        if choice.codec is None:
            _count(plans, "allgather", output_tensor, choice.reason)
            return dist.all_gather_into_tensor(
                output_tensor, input_tensor, group=group, async_op=async_op
            )
        own, whole = input_tensor.detach().contiguous(), output_tensor.detach()

        def task() -> None:
            all_gather(plans, whole, own, choice)

        with torch.profiler.record_function(f"thinwire::allgather/{choice.codec.spec}"):
            return _submit(plans, "allgather", task, whole, async_op)


class CompressedReduceScatter(_Comm):
    """For `FSDPModule.set_custom_reduce_scatter`; `name` as of CompressedAllGather."""

    def __init__(self, name: str = "") -> None:
        super().__init__(name)

    def __call__(
        self,
        output_tensor: Any,
        input_tensor: Any,
        group: Any,
        op: Any,
        async_op: bool = False,
    ) -> Any:
        plans = self._plans(group)
        choice = plans.choose("reduce-scatter", input_tensor, op)
        if choice.codec is None:
            _count(plans, "reduce-scatter", input_tensor, choice.reason)
            return dist.reduce_scatter_tensor(
                output_tensor, input_tensor, op=op, group=group, async_op=async_op
            )
        own, whole = output_tensor.detach(), input_tensor.detach().contiguous()

        def task() -> None:
            reduce_scatter(plans, own, whole, op, choice)

        with torch.profiler.record_function(f"thinwire::reduce-scatter/{choice.codec.spec}"):
            return _submit(plans, "reduce-scatter", task, whole, async_op)


class ReplicaAverage(_Comm):
    """For `FSDPModule.set_all_reduce_hook`: averages gradients over a group of replicas, in place,
    where the modules are sharded over a mesh of one dimension."""

    def __init__(self, group: Any, name: str = "") -> None:
        super().__init__(name or name_of(group, "dp_replicate"))
        self._group = group

    def __call__(self, tensor: Any) -> None:
        plans = self._plans(self._group)
        choice = plans.choose("allreduce", tensor, dist.ReduceOp.AVG)
        if choice.codec is None:
            _count(plans, "allreduce", tensor, choice.reason)
            dist.all_reduce(tensor, op=dist.ReduceOp.AVG, group=self._group)
            return
        whole = tensor.detach()

        def task() -> None:
            all_reduce(plans, whole, dist.ReduceOp.AVG, choice)

        with torch.profiler.record_function(f"thinwire::allreduce/{choice.codec.spec}"):
            _submit(plans, "allreduce", task, whole, False)


def _submit(plans: Plans, what: str, task: Any, whole: Any, async_op: bool) -> Any:
    future = plans.channel.submit(what, task, whole.device)
    if async_op:
        return Done(future)
    future.wait()
    return None


def _count(plans: Plans, operation: str, tensor: Any, reason: str) -> None:
    nbytes = tensor.numel() * tensor.element_size()
    stats.count_raw(plans.name, operation, nbytes, reason)
