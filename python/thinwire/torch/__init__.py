"""Training with PyTorch by policy: which codec the groups of a program use, hooks that apply it
without the preload library, and what they did. The guide is docs/guide/pytorch.md."""

from thinwire.torch.versions import check_torch

check_torch()

from thinwire.statistics import preload_is_loaded  # noqa: E402
from thinwire.torch.attach import Attached, attach  # noqa: E402
from thinwire.torch.channel import close  # noqa: E402
from thinwire.torch.companion import PolicyMismatch  # noqa: E402
from thinwire.torch.ddp import ddp_hook  # noqa: E402
from thinwire.torch.feedback import ErrorFeedback  # noqa: E402
from thinwire.torch.fsdp import (  # noqa: E402
    CompressedAllGather,
    CompressedReduceScatter,
    ReplicaAverage,
)
from thinwire.torch.nccl import mesh_options, nccl_options, preload_policy  # noqa: E402
from thinwire.torch.setting import PolicyScope, set_policy  # noqa: E402
from thinwire.torch.stats import OperationStats, stats  # noqa: E402
from thinwire.torch.writers import StatsCallback, scalars, write_scalars  # noqa: E402

__all__ = [
    "Attached",
    "CompressedAllGather",
    "CompressedReduceScatter",
    "ErrorFeedback",
    "OperationStats",
    "PolicyMismatch",
    "PolicyScope",
    "ReplicaAverage",
    "StatsCallback",
    "attach",
    "close",
    "ddp_hook",
    "mesh_options",
    "nccl_options",
    "preload_is_loaded",
    "preload_policy",
    "scalars",
    "set_policy",
    "stats",
    "write_scalars",
]
