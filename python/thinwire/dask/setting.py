"""What holds for the arrays that this process sends."""

import threading
from dataclasses import dataclass, field
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from thinwire.codec import Codec, CodecInfo, codecs
from thinwire.library import parse_link_rate, parse_size
from thinwire.policy import Policy
from thinwire.settings import value_of

DEFAULTS: dict[str, Any] = {
    "codec": "auto",
    "min-bytes": "64KiB",
    "link": None,
    "same-host": False,
    "force": False,
    "policy": None,
}


@dataclass(frozen=True)
class Setting:
    """`link` is in bytes per second, None if it is to be observed."""

    codec: str
    least: int
    link: float | None
    same_host: bool
    force: bool
    policy: Policy | None = field(default=None, compare=False)

    def codec_for(self, dtype: str, nbytes: int) -> str:
        """The spec for an array that names none itself."""
        rule = None if self.policy is None else self.policy.match("send", dtype, nbytes)
        if rule is None or rule.codec == "default":
            return self.codec
        return rule.codec


def make(
    codec: str,
    min_bytes: int | str,
    link: float | str | None,
    same_host: bool,
    force: bool,
    policy: str | None,
) -> Setting:
    """Checked: ValueError or ThinwireError for what cannot be. `policy` is the text of one.
    THINWIRE_FORCE=1 of this process forces, whatever `force` is."""
    force = force or value_of("THINWIRE_FORCE") == "1"
    rules = None if policy is None else Policy(text=policy)
    specs = [codec] + ([] if rules is None else [rule.codec for rule in rules.rules])
    for spec in specs:
        if spec != "default":
            _check_lossless(spec)
    least = parse_size(min_bytes) if isinstance(min_bytes, str) else int(min_bytes)
    rate = parse_link_rate(link) if isinstance(link, str) else link
    if least < 0 or (rate is not None and rate <= 0):
        raise ValueError("min_bytes is not negative, and link is a rate above 0")
    return Setting(codec, least, rate, same_host, force, rules)


def policy_text(policy: str | PathLike[str] | None) -> str | None:
    """The rules of the file at `policy`, checked here, where somebody reads the error."""
    if policy is None:
        return None
    Policy(policy)
    return Path(fspath(policy)).read_text()


@cache
def codec_of(spec: str) -> Codec:
    """Parsed once; ThinwireError for a spec that does not parse."""
    return Codec(spec)


@cache
def rows_of(spec: str) -> tuple[CodecInfo, ...]:
    """The registry's rows of the codecs that a spec may use."""
    if spec == "off":
        return ()
    ids = codec_of(spec).ids
    return tuple(row for row in codecs() if row.id in ids)


def check_usable(spec: str) -> None:
    """ValueError for a codec whose frames some workers could not decode."""
    for row in rows_of(spec):
        if row.gpu_only:
            raise ValueError(f"{row.name} decodes on GPUs only, and a worker may have none")


def _check_lossless(spec: str) -> None:
    check_usable(spec)
    for row in rows_of(spec):
        if not row.lossless:
            raise ValueError(
                f"{spec} is lossy: lossy codecs are named an array at a time, "
                "by thinwire.dask.lossy()"
            )


_lock = threading.Lock()
_held: dict[object, Setting] = {}


def hold(owner: object, setting: Setting) -> None:
    """`setting` holds for this process from now on, until `owner` lets go."""
    with _lock:
        _held.pop(owner, None)
        _held[owner] = setting


def let_go(owner: object) -> bool:
    """Whether anything is held still."""
    with _lock:
        _held.pop(owner, None)
        return bool(_held)


def current() -> Setting | None:
    """Of the owner that came last; None: this process compresses nothing."""
    with _lock:
        return next(reversed(_held.values()), None)
