"""What the preload library for NCCL learns from this side, names of groups and a policy, and what
it goes by, which `set_policy` does not change.

Torch gives NCCL's communicators no names. Their configuration (`ncclConfig_t`, NCCL 2.27 and
later) has room for one, which torch passes on as it is.
"""

import ctypes
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch.distributed as dist

from thinwire.library import ThinwireError, c_text
from thinwire.policy import Policy
from thinwire.settings import value_of
from thinwire.statistics import nccl_report, preload_is_loaded
from thinwire.torch.mapping import is_lossy, policy_of, text_of

# Offset in ncclConfig_t, as shim/nccl/entry/making.cpp reads it.
_NAME_AT = 48
_NAMED_SINCE = 22700
_names: dict[str, Any] = {}  # NCCL keeps a pointer to the text
_log = logging.getLogger("thinwire.torch")
_said: set[tuple[int, str]] = set()  # policies, and what held instead


class _Head(ctypes.Structure):
    _fields_ = (("size", ctypes.c_size_t), ("magic", ctypes.c_uint), ("version", ctypes.c_uint))


def nccl_options(name: str, options: Any = None) -> Any:
    """`options`, or new ones for NCCL, which give a group's communicator a name:
    `new_group(ranks, pg_options=nccl_options("dp"))`. The preload library chooses codecs by it.

    RuntimeError where torch has no NCCL, or one older than 2.27."""
    if not dist.is_nccl_available():
        raise RuntimeError("nccl_options: this torch was built without NCCL")
    options = dist.ProcessGroupNCCL.Options() if options is None else options
    pointer = getattr(options.config, "unsafe_get_ptr", None)
    if pointer is None:
        raise RuntimeError("nccl_options: this torch does not show NCCL's configuration")
    at = int(pointer())
    head = _Head.from_address(at)
    if head.version < _NAMED_SINCE or head.size < _NAME_AT + ctypes.sizeof(ctypes.c_void_p):
        raise RuntimeError("nccl_options: torch's NCCL is older than 2.27 and has no names")
    kept = _names.setdefault(name, ctypes.create_string_buffer(c_text(name)))
    ctypes.c_void_p.from_address(at + _NAME_AT).value = ctypes.addressof(kept)
    return options


def mesh_options(names: Sequence[str]) -> dict[str, Any]:
    """The same for a mesh, whose dimensions get groups of their own then:
    `init_device_mesh(..., mesh_dim_names=names, backend_override=mesh_options(names))`."""
    return {name: ("nccl", nccl_options(name)) for name in names}


def preload_policy(policy: Any, names: Sequence[str] | None = None) -> Path:
    """Has the preload library of this process go by `policy`, which is as for `set_policy`, of
    dimensions `names`; returns the file that it reads. Call it before the program uses NCCL, best
    before `init_process_group()`: the library reads its policy once. The ranks compare it when they
    make communicators; where it differs these stay raw, and a line says so.

    RuntimeError if the preload library is not loaded, or THINWIRE_POLICY names a file already, or
    NCCL has been used; TypeError for a `thinwire.Policy`, whose file has to be named instead.
    """
    if not preload_is_loaded():
        raise RuntimeError(
            "preload_policy: the preload library is not in this process: start the program by "
            "`thinwire run --nccl`, or use thinwire.torch.set_policy() and attach()"
        )
    if value_of("THINWIRE_POLICY"):
        raise RuntimeError("preload_policy: THINWIRE_POLICY names a policy already")
    if nccl_report():
        raise RuntimeError(
            "preload_policy: too late: NCCL has been used, and the preload library goes by what it "
            "read then"
        )
    path = policy_file(policy, names)
    os.environ["THINWIRE_POLICY"] = str(path)
    return path


def policy_file(policy: Any, names: Sequence[str] | None = None) -> Path:
    """A file with such a policy, its own where it is one; errors as of `set_policy`."""
    if isinstance(policy, Policy):
        raise TypeError("preload_policy: give the file of a thinwire.Policy, not the object")
    policy_of(policy, names)
    text = text_of(policy, names)
    if text is None:
        return Path(policy).resolve()
    handle, path = tempfile.mkstemp(prefix="thinwire-", suffix=".toml")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return Path(path)


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
    """As the environment has it, which the library has read, or will; None if that is no policy
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
