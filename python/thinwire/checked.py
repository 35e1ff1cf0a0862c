"""Reading JSON that anybody may have written: each value's type, range and length is looked at
before it is used, and what does not hold is a ValueError that names the field."""

import json
import math
from typing import Any

MOST_COUNT = (1 << 64) - 1
MOST_SECONDS = 253_402_300_799.0  # the end of the year 9999, as seconds since 1970
MOST_TEXT = 1 << 16
MOST_DEPTH = 8


def parse(text: str) -> dict[str, Any]:
    """The object that a text is; ValueError if it is none, or holds what JSON does not have, as
    NaN, or text that no file could hold."""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    _look(found, MOST_DEPTH)
    return found


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _look(value: Any, depth: int) -> None:
    """Whether all texts can be written and all numbers are finite."""
    if depth == 0:
        raise ValueError("it is nested too deep")
    if isinstance(value, str):
        _encodable(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is not finite")
    elif isinstance(value, dict):
        for name, each in value.items():
            _encodable(name)
            _look(each, depth - 1)
    elif isinstance(value, list):
        for each in value:
            _look(each, depth - 1)


def _encodable(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half a character") from None


def count(value: Any, name: str, most: int = MOST_COUNT) -> int:
    """A number of things."""
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} is no number from 0 to {most}")
    return value


def number(value: Any, name: str, most: float = MOST_SECONDS) -> float:
    """A number that need not be whole, as a time in seconds, from 0 on."""
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise ValueError(f"{name} is no number from 0 to {most:g}")
    return float(value)


def text(value: Any, name: str, most: int = MOST_TEXT) -> str:
    """A text that is not overlong."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"{name} is no text of at most {most} characters")
    return value


def flag(value: Any, name: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is neither true nor false")
    return value


def sequence(value: Any, name: str, length: int | None = None) -> list[Any]:
    """A list, of a length that is known or not."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError(f"{name} is no list" + ("" if length is None else f" of {length}"))
    return value


def table(value: Any, name: str) -> dict[str, Any]:
    """Values by name."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} has no fields")
    return value


def field(values: dict[str, Any], name: str) -> Any:
    """A value that must be there."""
    if name not in values:
        raise ValueError(f"{name} is missing")
    return values[name]
