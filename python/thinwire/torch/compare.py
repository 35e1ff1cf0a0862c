"""What all ranks must have set alike is compared when it is set."""

from collections.abc import Sequence
from typing import Any

import torch.distributed as dist

from thinwire.torch.companion import gather


class PolicyMismatch(RuntimeError):
    """The ranks gave different policies; the text names the first difference."""


def exchange(groups: Sequence[Any], said: str) -> dict[int, str]:
    """What each rank of the groups says, by its global rank. Collective over all of the groups, in
    their order; over those of a mesh, one a dimension, every rank learns of all ranks."""
    known = {dist.get_rank(): said}
    for group in groups:
        for each in gather(group, known):
            known.update(each)
    return known


def compare(groups: Sequence[Any], what: dict[str, Any], error: Exception | None) -> None:
    """Raises on every rank if `what` differs between ranks, or one has an `error`: its own there,
    PolicyMismatch on the others. Collective, so no rank may raise before."""
    said = f"error: {error}" if error is not None else _lines(what)
    known = exchange(groups, said)
    if error is not None:
        raise error
    for rank, text in sorted(known.items()):
        if text.startswith("error: "):
            raise PolicyMismatch(f"set_policy: rank {rank} has no policy: {text[7:]}")
    first = min(known)
    for rank, text in sorted(known.items()):
        if text != known[first]:
            raise PolicyMismatch(f"set_policy: {_difference(first, known[first], rank, text)}")


def _lines(what: dict[str, Any]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in what.items())


def _difference(first: int, one: str, rank: int, other: str) -> str:
    ours, theirs = dict(_pairs(one)), dict(_pairs(other))
    for key in (*ours, *theirs):
        if ours.get(key) != theirs.get(key):
            return (
                f"the ranks differ in {key}: {ours.get(key, 'none')} on rank {first}, "
                f"{theirs.get(key, 'none')} on rank {rank}"
            )
    return f"ranks {first} and {rank} differ"


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(key, value) for key, _, value in (line.partition(": ") for line in text.split("\n"))]
