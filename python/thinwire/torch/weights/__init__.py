"""Weights from a trainer to servers: a group's ranks get the source's tensors to the bit, and only
what has changed is sent. The guide is docs/guide/weights.md, the format spec/weights.md."""

from thinwire.torch.weights.errors import WeightsError
from thinwire.torch.weights.report import SyncReport
from thinwire.torch.weights.sync import WeightSync, sync_weights

__all__ = ["SyncReport", "WeightSync", "WeightsError", "sync_weights"]
