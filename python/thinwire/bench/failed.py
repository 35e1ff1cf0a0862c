"""Rows of what could not be measured: one failure leaves the other rows as they are."""

from dataclasses import MISSING, fields
from typing import Any, TypeVar

Row = TypeVar("Row")

# The end of what a program said, which names the cause.
_NOTE_LENGTH = 300
_EMPTY = {"str": "-", "int": 0, "bool": False, "list[str]": []}


def failed_row(kind: type[Row], error: object, **known: Any) -> Row:
    """A row of this dataclass with `known` and without figures, not verified; its note is the
    error, in one line."""
    words = " ".join(str(error).split())
    if len(words) > _NOTE_LENGTH:
        words = f"{words[:60]} ... {words[-_NOTE_LENGTH + 60 :]}"
    values = {
        field.name: _EMPTY.get(getattr(field.type, "__name__", str(field.type)))
        for field in fields(kind)  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING
    }
    return kind(**{**values, "verified": False, **known, "note": f"failed: {words}"})
