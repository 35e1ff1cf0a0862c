"""What a look at one thing has come to."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """OK: as it should be. NOTE: right for many users. WRONG: nothing is compressed, or less than
    was asked for."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    subject: str
    state: State
    says: str
    do: str = ""  # what to type or to do


def ok(subject: str, says: str) -> Finding:
    return Finding(subject, State.OK, says)


def note(subject: str, says: str, do: str = "") -> Finding:
    return Finding(subject, State.NOTE, says, do)


def wrong(subject: str, says: str, do: str) -> Finding:
    return Finding(subject, State.WRONG, says, do)
