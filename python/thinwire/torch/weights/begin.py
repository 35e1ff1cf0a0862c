"""The one exchange before buckets: who has which version of what, and which way the sync goes."""

import secrets
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from thinwire.torch.groups import goes_by_nccl
from thinwire.torch.weights.choice import LEAST_BYTES
from thinwire.torch.weights.control import Control
from thinwire.torch.weights.errors import WeightsError
from thinwire.torch.weights.record import MARK
from thinwire.torch.weights.report import SyncReport
from thinwire.torch.weights.state import State, Terms
from thinwire.torch.weights.tensors import Tensors, check_same

_ON_GPU, _BROADCASTS = 1, 2  # bits of word 5


@dataclass(frozen=True)
class Begun:
    """`state` is what the sync goes on from, `chain` what its result is of; payloads lie on
    `device`."""

    state: State
    chain: int
    device: Any


def begin(
    terms: Terms, control: Control, tensors: Tensors, error: str, state: State, report: SyncReport
) -> Begun:
    """Raises WeightsError on all ranks if these cannot sync: `error` says why this one cannot."""
    why = _why_broadcast(terms, control, tensors, state)
    is_cuda = any(entry.bits.is_cuda for entry in tensors.entries)
    flags = _ON_GPU if goes_by_nccl(terms.group) and is_cuda else 0
    flags |= _BROADCASTS if why else 0
    offer = secrets.randbits(63) | 1
    mine = [MARK, terms.bucket, terms.src, int(bool(error)), tensors.digest, flags]
    told = control.gather([*mine, state.chain, state.version, offer])
    report.sent_bytes += 8 * len(told[0])
    ranks = dist.get_process_group_ranks(terms.group)
    source = told[control.root]
    if any(each[:3] != source[:3] for each in told):
        raise WeightsError("sync_weights: the ranks differ in format, bucket or src")
    if any(each[3] or each[4] != source[4] for each in told):
        said = control.texts((error, tensors.lines))
        check_same(said, ranks, control.root)
    device = _device_of(terms, tensors, all(each[5] & _ON_GPU for each in told))
    report.version = source[7] + 1
    if source[5] & _BROADCASTS:
        report.way, report.why_broadcast = "broadcast", why or "the source says so"
        return Begun(state.without_base(), 0, device)
    report.why_full = _why_full(told, source, ranks)
    if report.why_full:
        return Begun(state.without_base(), source[8], device)
    return Begun(state, source[6], device)


def _why_broadcast(terms: Terms, control: Control, tensors: Tensors, state: State) -> str:
    """The source's; empty on others."""
    nbytes = sum(entry.bits.numel() * entry.width for entry in tensors.entries)
    if not terms.may_broadcast or not control.is_root or nbytes < LEAST_BYTES:
        return ""
    return state.choice.why_broadcast()


def _why_full(told: list[list[int]], source: list[int], ranks: list[int]) -> str:
    if source[7] == 0:
        return "the source's first"
    for rank, each in zip(ranks, told, strict=True):
        if each[7] == 0:
            return f"rank {rank}'s first"
        if each[6:8] != source[6:8]:
            return f"rank {rank} has version {each[7]}, the source {source[7]}"
    return "" if source[6] else "the version before was broadcast"


def _device_of(terms: Terms, tensors: Tensors, all_on_gpus: bool) -> Any:
    """Where payloads lie: on the GPU if NCCL sends them."""
    if all_on_gpus:
        return next(e.bits.device for e in tensors.entries if e.bits.is_cuda)
    if dist.get_backend(terms.group) == "nccl":
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")
