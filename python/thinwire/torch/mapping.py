"""Policies made of presets, mappings, codec specs and files."""

import fnmatch
import os
from collections.abc import Mapping, Sequence
from typing import Any

from thinwire.codec import Codec, codecs
from thinwire.library import ThinwireError
from thinwire.policy import Policy
from thinwire.torch.groups import DATA_PARALLEL, FAMILIES, KNOWN, MODEL_PARALLEL

GRADIENTS = ("allreduce", "reduce", "reduce-scatter")
PARAMETERS = ("allgather", "bcast")
OPERATIONS = (*GRADIENTS, *PARAMETERS, "gather", "scatter", "alltoall", "send")
WORDS = {"gradients": GRADIENTS, "parameters": PARAMETERS}

# Operations that a lossy codec takes if it is named for a group as a whole.
_LOSSY_DATA_PARALLEL = (*GRADIENTS, "alltoall", "send")
_LOSSY_MODEL_PARALLEL = (*GRADIENTS, "allgather", "alltoall", "send")

_DATA = {"f32": "zfp:rate=8", "f64": "zfp:rate=8", "f16": "blockq", "bf16": "blockq"}
_MODEL = {"f32": "zfp:rate=16", "f64": "zfp:rate=16"}
# By kind of group, codecs by element type: zfp takes no 16-bit types.
PRESETS: dict[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "off": ({}, {}),
    "lossless": ({}, {}),
    "mzhybrid": (_DATA, {}),
    "zhybrid": (_DATA, _MODEL),
}


def policy_of(wanted: Any, dimensions: Sequence[str] | None) -> Policy:
    """The policy that `set_policy` was given; `dimensions` are the mesh's, None if there is
    none. ValueError, TypeError or ThinwireError say what is wrong with it."""
    if isinstance(wanted, Policy):
        return wanted
    text = text_of(wanted, dimensions)
    return Policy(wanted) if text is None else Policy(text=text)


def text_of(wanted: Any, dimensions: Sequence[str] | None) -> str | None:
    """The policy's text, None if `wanted` is a path of one."""
    if isinstance(wanted, Mapping):
        return _text_of_mapping(wanted, dimensions)
    if isinstance(wanted, os.PathLike):
        return None
    if not isinstance(wanted, str):
        raise TypeError(
            "set_policy: a mapping, a preset, a codec spec, a path of a TOML file or a "
            f"thinwire.Policy, not {wanted!r}"
        )
    if wanted in PRESETS:
        return _text_of_preset(wanted)
    if wanted.endswith(".toml") or os.path.sep in wanted:
        return None
    try:
        Codec(wanted)
    except ThinwireError as error:
        presets = ", ".join(PRESETS)
        raise ValueError(
            f"set_policy: {wanted!r} is no preset ({presets}), no path of a TOML file and no "
            f"codec spec: {error}"
        ) from error
    return _text_of_mapping({"*": wanted}, dimensions)


def is_lossy(spec: str) -> bool:
    """ThinwireError for a spec that does not parse."""
    lossless = {row.id for row in codecs() if row.lossless}
    return not lossless.issuperset(Codec(spec).ids)


def _text_of_preset(name: str) -> str:
    if name in ("off", "lossless"):
        return _rule({}, name)
    data, model = PRESETS[name]
    kinds = (
        (data, DATA_PARALLEL, _LOSSY_DATA_PARALLEL),
        (model, MODEL_PARALLEL, _LOSSY_MODEL_PARALLEL),
    )
    rules = []
    for codecs_by_type, names, operations in kinds:
        for spec in dict.fromkeys(codecs_by_type.values()):
            types = [dtype for dtype, each in codecs_by_type.items() if each == spec]
            which = {"communicator": names, "operation": operations, "dtype": types}
            rules.append(_rule(which, spec))
    return "".join(rules) + _rule({}, "lossless")


def _text_of_mapping(wanted: Mapping[Any, Any], dimensions: Sequence[str] | None) -> str:
    for key in wanted:
        if not isinstance(key, str):
            raise TypeError(f"set_policy: {key!r} is no name of a dimension")
    if not wanted:
        raise ValueError("set_policy: the mapping is empty")
    if all(key in WORDS or key in OPERATIONS for key in wanted):
        wanted = {"*": wanted}
    named = [key for key in wanted if key != "*" and not _is_pattern(key)]
    # The more exact names come first, as the first rule that matches takes a call.
    families = [key for key in named if key in FAMILIES and _members(key, named, dimensions)]
    patterns = [key for key in wanted if _is_pattern(key)]
    order = [key for key in named if key not in families] + families + patterns
    rules = []
    for key in order:
        names = _names(key, named, dimensions)
        rules.append(_rules_of_key(key, names, wanted[key]))
    if "*" in wanted:
        rules.append(_rules_of_key("*", (), wanted["*"]))
    return "".join(rules)


def _is_pattern(key: str) -> bool:
    return key != "*" and ("*" in key or "?" in key)


def _members(key: str, named: Sequence[str], dimensions: Sequence[str] | None) -> list[str]:
    """What a family's name stands for besides itself."""
    known = KNOWN if dimensions is None else dimensions
    return [name for name in FAMILIES[key] if name in known and name not in named and name != key]


def _names(key: str, named: Sequence[str], dimensions: Sequence[str] | None) -> tuple[str, ...]:
    """The communicators' names for a key; ValueError if it names none."""
    known = tuple(KNOWN if dimensions is None else dimensions)
    if _is_pattern(key):
        if not fnmatch.filter(known, key):
            raise ValueError(_unknown(key, known))
        return (key,)
    members = _members(key, named, dimensions) if key in FAMILIES else []
    if key not in known and not members:
        raise ValueError(_unknown(key, known))
    return (key, *members)


def _unknown(key: str, known: Sequence[str]) -> str:
    return f"set_policy: no dimension {key!r}: it is none of {', '.join(known)}, *"


def _rules_of_key(key: str, names: Sequence[str], value: Any) -> str:
    which = {"communicator": names} if names else {}
    if isinstance(value, str):
        if not _lossy(key, value):
            return _rule(which, value)
        # Gathers of groups that are not surely of another kind may be of parameters.
        of_model = names and all(fnmatch.filter(MODEL_PARALLEL, name) for name in names)
        takes = _LOSSY_MODEL_PARALLEL if of_model else _LOSSY_DATA_PARALLEL
        return _rule({**which, "operation": takes}, value) + _rule(which, "lossless")
    if not isinstance(value, Mapping) or not value:
        raise TypeError(
            f"set_policy: {key!r}: a codec spec, or a mapping from operations to specs, not "
            f"{value!r}"
        )
    rules = []
    for word, spec in value.items():
        if word == "*":
            continue
        if word not in WORDS and word not in OPERATIONS:
            known = ", ".join((*WORDS, *OPERATIONS, "*"))
            raise ValueError(f"set_policy: {key!r}: no operation {word!r}: it is none of {known}")
        _lossy(f"{key}.{word}", spec)
        rules.append(_rule({**which, "operation": WORDS.get(word, (word,))}, spec))
    rest = value.get("*", "lossless")
    _lossy(f"{key}.*", rest)
    return "".join(rules) + _rule(which, rest)


def _lossy(key: str, spec: Any) -> bool:
    if not isinstance(spec, str):
        raise TypeError(f"set_policy: {key!r}: {spec!r} is no codec spec")
    if spec == "default":
        return False
    try:
        return is_lossy(spec)
    except ThinwireError as error:
        raise ValueError(f"set_policy: {key!r}: {error}") from error


def _rule(which: Mapping[str, Sequence[str]], spec: str) -> str:
    lines = ["[[rule]]"]
    for key, words in which.items():
        listed = ", ".join(f'"{word}"' for word in words)
        lines.append(f"{key} = [{listed}]")
    return "\n".join([*lines, f'codec = "{spec}"', "", ""])
