"""`sync_weights`: the tensors of one rank to all ranks of a group, the changed parts alone."""

import logging
from typing import Any

import torch
import torch.distributed as dist

from thinwire.library import parse_size
from thinwire.torch import channel
from thinwire.torch.groups import default_group
from thinwire.torch.weights.checksum import MOST_BYTES
from thinwire.torch.weights.control import Control
from thinwire.torch.weights.report import SyncReport
from thinwire.torch.weights.run import Run, State, Terms
from thinwire.torch.weights.sender import KEEPS

_log = logging.getLogger("thinwire.torch")
_LEAST_BUCKET = 1 << 10
WAYS = ("auto", "changes")


class WeightSync:
    """Syncs of the ranks of a group from rank `src` (as torch.distributed's broadcast has it).

    `bucket` is how much is encoded, sent and applied at a time. `keep` says where the source keeps
    the bits that receivers have: "host" memory (pinned, if the weights are on a GPU), the weights'
    "device", or "nothing": then only buckets in which no bit changed are left out. `codec` encodes
    differences where more than 5% changed; None leaves that out. Syncs of 16 MiB and more become
    broadcasts of all bytes if these turn out to be faster, unless the source's `way` is "changes".
    All ranks give the same `src` and `bucket`; the first sync is collective as the others are.
    """

    def __init__(
        self,
        group: Any = None,
        src: int = 0,
        *,
        bucket: int | str = "64MiB",
        keep: str = "host",
        codec: str | None = "ans",
        way: str = "auto",
    ) -> None:

        self._group = group if group is not None else default_group()
        if self._group == dist.GroupMember.NON_GROUP_MEMBER:
            raise ValueError("sync_weights: this rank is not in the group")
        if keep not in KEEPS:
            raise ValueError(f"sync_weights: keep is one of {', '.join(KEEPS)}, not {keep!r}")
        if way not in WAYS:
            raise ValueError(f"sync_weights: way is one of {', '.join(WAYS)}, not {way!r}")
        self._root = dist.get_group_rank(self._group, src)
        size = int(parse_size(bucket) if isinstance(bucket, str) else bucket) // 8 * 8
        if not _LEAST_BUCKET <= size <= MOST_BYTES:
            raise ValueError(f"sync_weights: a bucket has {_LEAST_BUCKET} to {MOST_BYTES} bytes")
        self._terms = Terms(self._group, src, size, keep, codec, way == "auto")
        self._control: Control | None = None
        self._states: dict[int, State] = {}

    def reset(self) -> None:
        """Forgets all versions on this rank: the next sync is full."""
        self._states.clear()

    def sync(self, source: Any) -> SyncReport:
        """Makes the tensors of `source`, a module or a mapping from names to tensors, the same to
        the bit on all ranks as on the source. Collective. Raises WeightsError on all ranks if one
        fails or the ranks' tensors differ; receivers may then have some buckets of the new version,
        and the next sync is full."""
        try:
            with torch.inference_mode():
                if self._control is None:
                    self._control = Control(self._group, self._root)
                report = Run(self._terms, self._control, self._states, source).run()
        except BaseException:
            self.reset()
            raise
        _log.info("sync_weights: %s", report)
        return report


_syncs: dict[Any, dict[tuple[Any, ...], WeightSync]] = {}


def sync_weights(
    source: Any,
    group: Any = None,
    src: int = 0,
    *,
    name: str = "",
    bucket: int | str = "64MiB",
    keep: str = "host",
    codec: str | None = "ans",
    way: str = "auto",
) -> SyncReport:
    """Makes the tensors of a module, buffers included, or of a mapping from names to tensors, the
    same to the bit on all ranks of `group` as on rank `src`. Collective, like a broadcast.

    The first call sends everything, later ones what has changed since; a receiver that is new or
    behind gets everything again, and so does a bucket whose tensors were changed. Versions are kept
    of 64 models, by group, `src`, `name` and the names, shapes and types of the tensors: give
    models that are alike in these, and take turns, a `name` each. Returns a SyncReport. Words are
    those of WeightSync, which is the same as an object, and raises what this raises.
    """
    of_group = _syncs.setdefault(group if group is not None else default_group(), {})
    key = (src, name, bucket, keep, codec, way)
    if key not in of_group:
        of_group[key] = WeightSync(group, src, bucket=bucket, keep=keep, codec=codec, way=way)
    return of_group[key].sync(source)


channel.at_close.append(_syncs.clear)
