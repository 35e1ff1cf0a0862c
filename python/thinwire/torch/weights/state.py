"""The versions of a model, and what the syncs of a group have alike."""

from dataclasses import dataclass, field
from typing import Any

from thinwire.torch.weights.choice import Choice
from thinwire.torch.weights.sender import Kept


@dataclass
class State:
    """The version of a model on this rank. A chain is the versions that follow a full sync."""

    chain: int = 0
    version: int = 0
    kept: Kept = field(default_factory=Kept)
    choice: Choice = field(default_factory=Choice)

    def without_base(self) -> "State":
        """Keeps what syncs took."""
        return State(choice=self.choice)


@dataclass(frozen=True)
class Terms:
    """All ranks have the same but for those from `keep` on, which are the source's."""

    group: Any
    src: int
    bucket: int
    keep: str
    codec: str | None
    may_broadcast: bool
