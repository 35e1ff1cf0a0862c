"""Training with PyTorch by policy: which codec the groups of a program use, hooks that apply it
without the preload library, and what they did. The guide is docs/guide/pytorch.md."""

_LEAST = (2, 11)


def _check_torch() -> None:
    """ImportError, in words, where torch is missing, too old or built without distributed."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ImportError(
            "thinwire.torch needs PyTorch, which this Python lacks: pip install 'torch>=2.11'"
        ) from error
    found = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if found < _LEAST:
        least = ".".join(map(str, _LEAST))
        raise ImportError(
            f"thinwire.torch needs torch {least} or later, and this is {torch.__version__}: "
            f"pip install 'torch>={least}'. `thinwire run --nccl` works with older ones."
        )
    if not torch.distributed.is_available():
        raise ImportError("thinwire.torch: this torch was built without torch.distributed")


_check_torch()

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
from thinwire.torch.weights import (  # noqa: E402
    SyncReport,
    WeightsError,
    WeightSync,
    sync_weights,
)
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
    "SyncReport",
    "WeightSync",
    "WeightsError",
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
    "sync_weights",
    "write_scalars",
]
