"""DistributedDataParallel: a communication hook that compresses gradients."""

import weakref
from typing import Any

import torch
import torch.distributed as dist

from thinwire.torch import stats
from thinwire.torch.collectives import Choice, Plans, all_reduce
from thinwire.torch.feedback import ErrorFeedback
from thinwire.torch.groups import default_group, name_of
from thinwire.torch.mapping import is_lossy
from thinwire.torch.setting import setting_of


class GroupPlans:
    """The plans of a group under the setting that holds now."""

    def __init__(self, group: Any, name: str) -> None:
        self.group, self.name = group, name
        self._plans: Plans | None = None

    def now(self) -> Plans:
        """RuntimeError where no policy is set."""
        setting = setting_of(self.group)
        if setting is None:
            raise RuntimeError(
                f"thinwire.torch: no policy holds for group {self.name}: call "
                "thinwire.torch.set_policy() first, or set THINWIRE_POLICY"
            )
        if self._plans is None or self._plans.setting is not setting:
            self._plans = Plans(self.group, self.name, setting)
        return self._plans


class DdpHook:
    """A communication hook of DDP, as `ddp_hook()` makes it."""

    def __init__(self, group: Any, name: str, feedback: ErrorFeedback | None) -> None:
        self._plans = GroupPlans(group, name)
        self.feedback = feedback
        self._model: Any = None
        # DDP reads and logs them.
        self.__name__ = self.__qualname__ = "thinwire_hook"

    def __call__(
        self, state: object, bucket: dist.GradBucket
    ) -> torch.futures.Future[torch.Tensor]:
        """A Future of the bucket's average over the group, as DDP's own."""
        plans, flat = self._plans.now(), bucket.buffer()
        self._check_join()
        _divide(flat, dist.get_world_size(plans.group))
        choice = plans.choose("allreduce", flat, dist.ReduceOp.SUM)
        spec = choice.codec.spec if choice.codec else "raw"
        with torch.profiler.record_function(f"thinwire::allreduce/{spec}"):
            if choice.codec is None:
                return _native(plans, flat, choice)
            return self._coded(plans, flat, bucket.parameters(), choice)

    def know(self, model: Any) -> None:
        """The model whose gradients it gets: what its `join()` asks for cannot all be had."""
        self._model = weakref.ref(model)

    def _check_join(self) -> None:
        model = self._model() if self._model is not None else None
        if model is None or not model._join_config.enable:
            return
        if not getattr(model, "_divide_by_initial_world_size", True):
            raise RuntimeError(
                "thinwire.torch: a hook does not learn how many ranks have not joined yet: "
                "join(divide_by_initial_world_size=False) works without attach() alone"
            )

    def _coded(self, plans: Plans, flat: Any, parameters: Any, choice: Choice) -> Any:
        codec = choice.codec
        assert codec is not None

        def task() -> Any:
            if self.feedback is not None and is_lossy(codec.spec):
                self.feedback.code(flat, parameters, codec)
            all_reduce(plans, flat, dist.ReduceOp.SUM, choice)
            return flat

        return plans.channel.submit("allreduce", task, flat.device)


def _divide(flat: Any, ranks: int) -> None:
    """First, and as DDP does without a hook: by 1 / ranks in double precision, sparse ones by
    ranks."""
    if flat.is_sparse:
        flat.div_(ranks)
    else:
        flat.mul_(1.0 / ranks)


def _native(plans: Plans, flat: Any, choice: Choice) -> Any:
    nbytes = flat.numel() * flat.element_size()
    stats.count_raw(plans.name, "allreduce", nbytes, choice.reason)
    if dist.get_world_size(plans.group) == 1:
        future: Any = torch.futures.Future()
        future.set_result(flat)
        return future
    future = dist.all_reduce(flat, group=plans.group, async_op=True).get_future()
    return future.then(lambda done: done.value()[0])


def ddp_hook(
    group: Any = None, *, name: str = "", error_feedback: ErrorFeedback | None = None
) -> DdpHook:
    """A communication hook: `model.register_comm_hook(None, ddp_hook(group))`. `group` is the
    model's process group, None for the default one; `name` is what policies know it by, by default
    that of its mesh dimension, else "dp". With `error_feedback` call its `know(model)` as well.
    `attach(model)` does all of this.
    """
    group = default_group() if group is None else group
    return DdpHook(group, name or name_of(group, "dp"), error_feedback)
