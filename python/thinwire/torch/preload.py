"""What the preload library for NCCL goes by, which `set_policy` does not change."""

import logging

from thinwire.library import ThinwireError
from thinwire.policy import Policy
from thinwire.settings import value_of
from thinwire.torch.mapping import is_lossy

_log = logging.getLogger("thinwire.torch")
_said: set[tuple[int, str]] = set()  # policies, and what held instead


def say_what_holds(wanted: Policy) -> None:
    """Warns, once for each, of a policy whose rules are not those that the library goes by."""
    setting, held = _held()
    if held is not None and held.hash == wanted.hash:
        return
    if (wanted.hash, setting) in _said:
        return
    _said.add((wanted.hash, setting))
    _log.warning(
        "set_policy: what goes by NCCL does not go by this policy: the preload library carries it, "
        "by %s%s. thinwire.torch.preload_policy(), called before NCCL is used, has it go by a "
        "policy, or `thinwire run --nccl --policy FILE`",
        setting,
        _in_words(held),
    )


def _held() -> tuple[str, Policy | None]:
    """As the environment has it, which the library has read, or will; None where that is no policy
    or codec."""
    if value_of("THINWIRE_DISABLE") == "1":
        return "THINWIRE_DISABLE=1, raw", Policy(text='[[rule]]\ncodec = "off"\n')
    path = value_of("THINWIRE_POLICY")
    codec = value_of("THINWIRE_CODEC") or "auto"
    setting = f"THINWIRE_POLICY={path}" if path else f"THINWIRE_CODEC={codec}"
    try:
        return setting, Policy(path) if path else Policy(text=f'[[rule]]\ncodec = "{codec}"\n')
    except ThinwireError:
        return setting, None


def _in_words(held: Policy | None) -> str:
    if held is None:
        return ""
    lossy = any(
        rule.codec not in ("off", "default") and is_lossy(rule.codec) for rule in held.rules
    )
    rules = "; ".join(rule.text for rule in held.rules)
    return f" ({rules}), which is lossy" if lossy else f" ({rules})"
