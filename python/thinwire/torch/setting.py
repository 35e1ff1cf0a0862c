"""`set_policy`, and which policy a group has."""

import atexit
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import torch.distributed as dist

from thinwire.library import (
    ffi,
    format_version,
    library,
    parse_link_rate,
    parse_size,
    text,
    version,
)
from thinwire.policy import Policy
from thinwire.settings import value_of
from thinwire.statistics import preload_is_loaded
from thinwire.torch import groups
from thinwire.torch.companion import compare
from thinwire.torch.mapping import policy_of
from thinwire.torch.nccl import say_what_holds

DEFAULT_LEAST = "64KiB"
_log = logging.getLogger("thinwire.torch")


@dataclass(frozen=True, eq=False)
class Setting:
    """A policy and what holds beside it; the same on all ranks of the groups that have it."""

    policy: Policy
    least: int  # bytes below which torch's own operation runs
    link: float  # bytes per second between nodes; 0: not stated
    same_node: bool  # ranks of one node compress, too
    fallback: str  # the codec of calls that no rule takes
    force: bool = False  # what is named runs whatever it takes


class PolicyScope:
    """What `set_policy` returns. As a context manager it makes the policy hold inside the `with`
    alone, above all others: all ranks of the groups must enter and leave it at the same place of
    their order of calls."""

    def __init__(self, setting: Setting, keys: tuple[str | None, ...]) -> None:
        self.setting, self._keys = setting, keys
        self._before = {key: _settings.get(key) for key in keys}
        for key in keys:
            _settings[key] = setting

    @property
    def policy(self) -> Policy:
        return self.setting.policy

    def covers(self, group_name: str) -> bool:
        return None in self._keys or group_name in self._keys

    def __enter__(self) -> Self:
        for key, before in self._before.items():
            if before is None:
                _settings.pop(key, None)
            else:
                _settings[key] = before
        _scopes.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _scopes.remove(self)


_settings: dict[str | None, Setting] = {}  # by torch's name of the group; None: of all
_scopes: list[PolicyScope] = []


def set_policy(
    target: Any,
    policy: Any,
    *,
    min_bytes: int | str = DEFAULT_LEAST,
    link: float | str | None = None,
    same_node: bool | None = None,
    force: bool | None = None,
) -> PolicyScope:
    """Say which codecs the groups of `target` use: a DeviceMesh (a group for each of its
    dimensions), a process group, or None for all groups that have no policy of their own.
    Collective over them, over all ranks for None: the ranks compare what they were given.

    `policy` is one of:

    - a mapping from mesh dimensions ("dp", "dp_shard", "tp", ..., patterns such as "dp*", "*" for
      the rest) to codec specs, or to mappings from operations to specs. Operations are those of
      policy files, "gradients" (allreduce, reduce, reduce-scatter) and "parameters" (allgather,
      bcast). A lossy spec for a dimension as a whole takes no broadcasts, gathers and scatters,
      and on groups that are not model-parallel no all-gathers: these are lossless unless named;
    - "off", "lossless", "mzhybrid" (data-parallel reductions lossy, the rest lossless) or
      "zhybrid" (data-parallel reductions at a low rate, model-parallel traffic at a high one);
    - a codec spec, for all groups alike, with the same care;
    - the path of a TOML file (docs/guide/policy.md), or a `thinwire.Policy`: as written.

    `min_bytes` ("64KiB", or a number): smaller operations are torch's own. `link`, the rate between
    nodes ("10gbit", or bytes per second), lets operations go raw of which a loss is predicted. With
    it and without, a few of the first steps are timed with a group's calls compressed and with
    torch's own, and the faster of the two is kept to (`thinwire.torch.guard`), unless `force`, by
    default as THINWIRE_FORCE says. Beside tensor-parallel ranks of the mesh lossy codecs are left
    out unless `force`: where each group finds out by itself replicas drift apart. `same_node`:
    compress between ranks of one node as well, by default as THINWIRE_SAME_NODE says.

    It does not steer the preload library for NCCL, which reads its policy once
    (`preload_policy`): where that carries a group and goes by other rules, a warning says which.

    A later call for the same target replaces the policy. Raises ValueError, TypeError or
    ThinwireError for a wrong one, and PolicyMismatch on all ranks where they differ.
    """
    world = groups.default_group()
    on_mesh = groups.is_mesh(target)
    named: dict[str, Any] = groups.groups_of_mesh(target) if on_mesh else {}
    over = list(named.values()) if on_mesh else [world if target is None else target]
    error: Exception | None = None
    setting = None
    what: dict[str, Any] = {}
    try:
        dimensions = tuple(named) if on_mesh else None
        setting = _setting(policy_of(policy, dimensions), min_bytes, link, same_node, force)
        what = compared(setting, tuple(named))
    except Exception as raised:  # noqa: BLE001, the other ranks must hear of it
        error = raised
    compare(over, what, error)
    assert setting is not None
    for name, group in named.items():
        groups.give_name(group, name)
    groups.note_replicas(named)
    keys = (None,) if target is None else tuple(group.group_name for group in over)
    _say_what_carries_it(setting.policy, over)
    return PolicyScope(setting, keys)


def setting_of(group: Any) -> Setting | None:
    """The setting that holds for a group now: of the innermost scope that covers it, its own, that
    of all groups, that of THINWIRE_POLICY. Whoever asks goes by it."""
    global _asked
    _asked = True
    for scope in reversed(_scopes):
        if scope.covers(group.group_name):
            return scope.setting
    found = _settings.get(group.group_name) or _settings.get(None)
    return found or _of_environment()


def _setting(
    policy: Policy,
    least: int | str,
    link: float | str | None,
    same_node: bool | None = None,
    force: bool | None = None,
) -> Setting:
    if same_node is None:
        same_node = value_of("THINWIRE_SAME_NODE") == "1"
    if force is None:
        force = value_of("THINWIRE_FORCE") == "1"
    rate = parse_link_rate(link) if isinstance(link, str) else link or 0.0
    size = parse_size(least) if isinstance(least, str) else least
    if rate < 0 or size < 0:
        raise ValueError("set_policy: link and min_bytes are not negative")
    said = library().tw_setting_value(b"THINWIRE_CODEC")
    fallback = "off" if said == ffi.NULL else text(said)
    return Setting(policy, size, rate, same_node, fallback, force)


def compared(setting: Setting, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """What ranks compare, by the words of a message about it."""
    rules = {f"rule {rule.index + 1}": rule.text for rule in setting.policy.rules}
    return {
        "version": f"{version()}, formats {format_version()}",
        "dimensions": " ".join(names),
        **rules,
        "rules": setting.policy.hash,
        "min_bytes": setting.least,
        "link": setting.link,
        "same_node": setting.same_node,
        "force": setting.force,
        "THINWIRE_CODEC": setting.fallback,
    }


_environment: dict[str, Setting] = {}


def _of_environment() -> Setting | None:
    path = value_of("THINWIRE_POLICY")
    if not path:
        return None
    if path not in _environment:
        _environment[path] = _setting(Policy(path), DEFAULT_LEAST, None)
    return _environment[path]


_said = False
_asked = False


def _say_what_carries_it(policy: Policy, over: Sequence[Any]) -> None:
    """The preload library has a policy of its own; without it hooks alone go by this one, and
    there are none for some traffic."""
    global _said
    if preload_is_loaded() and any(map(groups.goes_by_nccl, over)):
        if all(dist.get_rank(group) == 0 for group in over):
            say_what_holds(policy)
        return
    if _said or all(rule.codec == "off" for rule in policy.rules):
        return
    _said = True
    if dist.get_rank() == 0:
        atexit.register(say_if_nobody_asked)
    _log.info(
        "the policy holds for what thinwire.torch.attach() hooks into, DDP's and FSDP2's "
        "collectives; all else, as tensor and pipeline parallel traffic, stays torch's own without "
        "the preload library"
    )


def say_if_nobody_asked() -> None:
    """A program that sets a policy and has no hooks trains as without it."""
    if not _asked:
        _log.warning(
            "a policy was set and nothing has gone by it: thinwire.torch.attach(model) hooks into "
            "DDP and FSDP2, `thinwire run --nccl` carries what GPUs send without hooks"
        )
