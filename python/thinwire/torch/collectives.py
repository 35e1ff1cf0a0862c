"""Collectives of tensors: compressed where the policy says so, else torch's own.

Which of the two runs follows from operation, element type, number of elements, device and setting,
and from what the guard timed, which all ranks have alike; never from what the tensors hold.
"""

import logging
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
import torch.distributed as dist

from thinwire.codec import Codec, CodecInfo, codecs
from thinwire.comm import IN_PLACE, CollectiveReport
from thinwire.torch import stats
from thinwire.torch.channel import Channel, channel_of
from thinwire.torch.groups import replicas_beside
from thinwire.torch.mapping import is_lossy
from thinwire.torch.setting import Setting

_log = logging.getLogger("thinwire.torch")

DTYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "e4m3",
    torch.float8_e5m2: "e5m2",
}
# Types that torch does not lend as they are: a view of their bytes, and the type's name.
BYTE_FLOATS = (torch.float8_e4m3fn, torch.float8_e5m2)
REDUCTIONS = ("allreduce", "reduce-scatter")
SUMS = (dist.ReduceOp.SUM, dist.ReduceOp.AVG)
SIBLINGS = "siblings not known"


@dataclass(frozen=True)
class Choice:
    """What is done with calls of a kind: `codec` is None if they are torch's own."""

    codec: Codec | None
    reason: str = ""


@cache
def codec_of(spec: str) -> Codec:
    return Codec(spec)


class Plans:
    """The choices of one group under one setting."""

    def __init__(self, group: Any, name: str, setting: Setting) -> None:
        self.group, self.name, self.setting = group, name, setting
        self._made: dict[tuple[Any, ...], Choice] = {}
        self._replicas = replicas_beside(group)
        self._has_said = False

    @property
    def channel(self) -> Channel:
        return channel_of(self.group, self.name, self.setting)

    def choose(self, operation: str, tensor: Any, op: Any = None) -> Choice:
        """For the next call; `tensor` is the whole array: what is reduced, or all ranks' blocks."""
        choice = self.plan(operation, tensor, op)
        if choice.codec is None or self.setting.force:
            return choice
        if self._replicas and _loses(choice.codec.spec):
            self._say_raw(choice.codec.spec)
            return Choice(None, SIBLINGS)
        why = self.channel.guard(self.setting).why_raw(tensor.device)
        return Choice(None, why) if why else choice

    def plan(self, operation: str, tensor: Any, op: Any = None) -> Choice:
        """For all calls of a kind, as predicted."""
        # All that the choice looks at.
        kind = (operation, tensor.dtype, tensor.layout, tensor.numel(), tensor.device.type, str(op))
        if kind not in self._made:
            self._made[kind] = self._choice(operation, tensor, op)
        return self._made[kind]

    def _choice(self, operation: str, tensor: Any, op: Any) -> Choice:
        ranks = dist.get_world_size(self.group)
        dtype, nbytes = DTYPES.get(tensor.dtype), tensor.numel() * tensor.element_size()
        if ranks == 1:
            return Choice(None, "one rank")
        if dtype is None or tensor.layout != torch.strided:
            return Choice(None, "no dense tensor of floats")
        if op is not None and op not in SUMS:
            return Choice(None, "neither sum nor average")
        if operation in REDUCTIONS and tensor.dtype in BYTE_FLOATS:
            return Choice(None, "sums of 8-bit floats are torch's own")
        spec = self._spec(operation, dtype, nbytes, ranks)
        if spec == "off":
            return Choice(None, "codec off")
        if nbytes < self.setting.least:
            return Choice(None, "below min_bytes")
        if not _fits(spec, dtype, tensor.device.type):
            self._warn(spec, operation, dtype, tensor.device.type)
            return Choice(None, "the codec does not take this element type")
        if spec == "lossless" and operation in REDUCTIONS:
            # Nobody promises an order of additions here.
            spec = "lossless:reductions=coded"
        return self._planned(operation, dtype, tensor.numel(), ranks, codec_of(spec))

    def _spec(self, operation: str, dtype: str, nbytes: int, ranks: int) -> str:
        match = partial(self.setting.policy.match, operation, dtype, nbytes)
        spans = ("within-node", "between-nodes")
        found = [match(communicator=self.name, ranks=ranks, span=span) for span in spans]
        # The places of the ranks are asked for only if they matter.
        at = 0 if found[0] == found[1] or self.channel.is_one_node else 1
        rule = found[at]
        return self.setting.fallback if rule is None or rule.codec == "default" else rule.codec

    def _planned(self, operation: str, dtype: str, count: int, ranks: int, codec: Codec) -> Choice:
        """As the core has it, where a link is stated after the ranks have measured."""
        block = count if operation == "allreduce" else count // ranks
        channel = self.channel
        plan = partial(channel.communicator.plan, operation, block, dtype=dtype, codec=codec)
        planned: CollectiveReport = channel.submit("the plan", plan).wait()
        return Choice(None, planned.why_raw) if planned.why_raw else Choice(codec)

    def _say_raw(self, spec: str) -> None:
        if self._has_said or dist.get_rank(self.group):
            return
        self._has_said = True
        _log.warning(
            "group %s: %s stays raw: ranks along %s have parameters alike, and each group would "
            "find out by itself whether it pays; force=True compresses from the first call on",
            *(self.name, spec, " and ".join(self._replicas)),
        )

    def _warn(self, spec: str, operation: str, dtype: str, device: str) -> None:
        if dist.get_rank(self.group):
            return
        others = [row.name for row in codecs() if row.id and _takes(row, dtype, device)]
        _log.warning(
            "%s on group %s: %s takes no %s here, so it stays raw; codecs that take %s: %s",
            *(operation, self.name, spec, dtype, dtype, ", ".join(others)),
        )


_loses = cache(is_lossy)


def _fits(spec: str, dtype: str, device: str) -> bool:
    """Whether one of the spec's codecs takes such arrays in such memory."""
    ids = set(codec_of(spec).ids_for(dtype))
    return any(row.id in ids and _takes(row, dtype, device) for row in codecs())


def _takes(row: CodecInfo, dtype: str, device: str) -> bool:
    return dtype in row.dtypes and not (row.gpu_only and device != "cuda")


# The three below are for the channel's thread; tensors are contiguous and need no gradients.


def all_reduce(plans: Plans, tensor: Any, op: Any, choice: Choice) -> None:
    """In place."""
    communicator = plans.channel.communicator
    report = communicator.Allreduce(IN_PLACE, tensor, codec=choice.codec, **_stream(tensor))
    _finish(plans, "allreduce", tensor, tensor, op, choice, report)


def reduce_scatter(plans: Plans, output: Any, whole: Any, op: Any, choice: Choice) -> None:
    communicator = plans.channel.communicator
    report = communicator.Reduce_scatter_block(whole, output, codec=choice.codec, **_stream(whole))
    _finish(plans, "reduce-scatter", whole, output, op, choice, report)


def all_gather(plans: Plans, whole: Any, own: Any, choice: Choice) -> None:
    """`own` may lie in its place in `whole`."""
    communicator = plans.channel.communicator
    block = own.numel() * own.element_size()
    at_home = own.data_ptr() == whole.data_ptr() + communicator.rank * block
    send = IN_PLACE if at_home else own
    if whole.dtype in BYTE_FLOATS:
        send = send if at_home else _lent(own)
        report = communicator.Allgather(send, _lent(whole), codec=choice.codec, **_stream(whole))
    else:
        report = communicator.Allgather(send, whole, codec=choice.codec, **_stream(whole))
    _finish(plans, "allgather", whole, whole, None, choice, report)


def _lent(tensor: Any) -> list[Any]:
    return [tensor.view(torch.uint8), DTYPES[tensor.dtype]]


def _stream(tensor: Any) -> dict[str, Any]:
    """The channel has waited for the tensor's stream: nothing is left to wait for but on GPUs the
    current stream of its thread."""
    return {"stream": torch.cuda.current_stream(tensor.device)} if tensor.is_cuda else {}


def _finish(
    plans: Plans,
    operation: str,
    whole: Any,
    result: Any,
    op: Any,
    choice: Choice,
    report: CollectiveReport,
) -> None:
    if op == dist.ReduceOp.AVG:
        result.div_(dist.get_world_size(plans.group))
        if result.is_cuda:
            torch.cuda.current_stream(result.device).synchronize()
    assert choice.codec is not None
    nbytes = whole.numel() * whole.element_size()
    stats.count_compressed(plans.name, operation, nbytes, choice.codec.spec, report)
