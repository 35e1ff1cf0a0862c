"""Policies: files of rules that name the codec of a message or of a collective call."""

from dataclasses import dataclass
from os import PathLike, fspath

from thinwire import dtypes
from thinwire.library import (
    as_c,
    c_text,
    check,
    ffi,
    ffi_new,
    library,
    new_struct,
    set_numbers,
    text,
)

SPANS = {"": 0, "within-node": 1, "between-nodes": 2}


def _operations() -> dict[str, int]:
    lib = library()
    names = {text(lib.tw_operation_text(at)): at for at in range(lib.TW_POLICY_SEND)}
    return names | {"send": lib.TW_POLICY_SEND}


def _code(word: str, codes: dict[str, int], what: str) -> int:
    if word not in codes:
        known = ", ".join(each for each in codes if each)
        raise ValueError(f"{what}: {word!r} is none of {known}")
    return codes[word]


@dataclass(frozen=True)
class PolicyRule:
    """One rule of a policy."""

    index: int  # in the file's order, from 0
    line: int
    name: str  # "" if it has none
    codec: str  # "off", "default", or a spec in its normal form
    text: str  # the whole rule in words
    holds: str = "bytes"  # what the bytes and 16-bit integers that it takes are, as in "bf16"
    siblings: int = 0  # under NCCL so many communicators of one name decide together; 0: not said


class Policy:
    """A policy of the file at `path`, or of `text`. Immutable.

    Raises ThinwireError, with file and line, for a wrong one. What a policy file says is in the
    guide, "Policies".
    """

    def __init__(self, path: str | PathLike[str] | None = None, *, text: str | None = None) -> None:
        if (path is None) == (text is None):
            raise ValueError("a policy is of a file or of a text")
        lib = library()
        out = ffi_new("tw_policy **")
        if path is not None:
            check(lib.tw_policy_open(c_text(fspath(path)), out))
        elif text is not None:
            check(lib.tw_policy_create(c_text(text), b"policy", out))
        self.handle = ffi.gc(out[0], lib.tw_policy_destroy)

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, in their order."""
        return tuple(self._rule(at) for at in range(library().tw_policy_rule_count(self.handle)))

    @property
    def hash(self) -> int:
        """Equal for policies whose rules do the same in the same order."""
        return int(library().tw_policy_hash(self.handle))

    def match(
        self,
        operation: str,
        dtype: str,
        nbytes: int,
        *,
        communicator: str | None = None,
        ranks: int = 0,
        span: str = "",
    ) -> PolicyRule | None:
        """The rule that takes such a call, or None: `operation` as in "allreduce" or "send",
        `dtype` as in "bf16", or "bytes" for bytes and 16-bit integers, `nbytes` uncompressed. What
        is not given of a communicator matches no rule that asks for it."""
        lib = library()
        call = new_struct("tw_policy_call")
        call.operation = _code(operation, _operations(), "operation")
        call.dtype = _code(dtype, dtypes.CODES, "dtype")
        call.span = _code(span, SPANS, "span")
        set_numbers(call, bytes=nbytes)
        name = ffi.NULL if communicator is None else c_text(communicator)
        call.rules = lib.tw_policy_rules(self.handle, name, as_c("uint32_t", "ranks", ranks))
        found = lib.tw_policy_match(self.handle, call)
        return None if found < 0 else self._rule(found)

    def _rule(self, index: int) -> PolicyRule:
        rule = new_struct("tw_policy_rule")
        check(library().tw_policy_describe(self.handle, index, rule))
        words = (text(rule.name), text(rule.codec), text(rule.text))
        return PolicyRule(index, rule.line, *words, dtypes.NAMES[rule.holds], rule.siblings)
