"""Choosers and retries from Python; the rule itself is tested in C++."""

import math

import pytest

from thinwire import ThinwireError
from thinwire.choose import Chooser, Retry


def ways(of: Chooser, calls: int, raw: float, compressed: float) -> str:
    """How calls went that take so many seconds, in capitals in a timing round."""
    found = ""
    for _ in range(calls):
        if of.due:
            of.adopt(of.own())
        turn = of.next(1e-3, 0.5e-3)
        way = "c" if turn.compressed else "r"
        found += way.upper() if turn.in_round else way
        if turn.timed:
            of.took(turn.compressed, compressed if turn.compressed else raw)
    return found


def test_it_keeps_to_the_faster_way() -> None:
    assert ways(Chooser(), 20, 1e-3, 0.5e-3) == "RCCRCRRCCRRCRCCRcccc"
    of = Chooser(once=True, begins_compressed=True, calls=4)
    assert of.compresses and of.rounds == 0
    assert ways(of, 12, 1.0, 1.1) == "CRRCRCCRrrrr"
    assert not of.compresses and of.rounds == 1


def test_ranks_agree_on_the_largest() -> None:
    one, other = Chooser(calls=2), Chooser(calls=2)
    ways(one, 4, 1.0, 0.5)
    ways(other, 4, 1.0, 3.0)
    assert one.due and other.due
    largest = [max(pair) for pair in zip(one.own(), other.own(), strict=True)]
    assert largest == [1e9, 3e9, 1e9, 3e9]
    for each in (one, other):
        each.adopt(largest)
        assert not each.compresses


def test_misuse_is_told() -> None:
    with pytest.raises(ThinwireError, match="2, 4 or 8"):
        Chooser(calls=3)
    with pytest.raises(ValueError, match="calls"):
        Chooser(calls=-1)
    of = Chooser()
    with pytest.raises(ThinwireError, match="nothing is due"):
        of.adopt([1.0] * 4)
    with pytest.raises(ThinwireError, match="below 0"):
        of.next(-1.0, 1.0)
    of.next(math.inf, math.inf)
    with pytest.raises(ValueError):
        of.adopt([1.0])
    of.took(True, 0.0)
    of.took(True, 1e300)


def test_attempts_in_vain_become_rare() -> None:
    retry, tried = Retry(), []
    for array in range(200):
        if retry.next():
            tried.append(array)
            retry.tell(False)
    assert tried == [0, 1, 3, 6, 11, 20, 37, 70, 134, 197]
    while not retry.next():
        continue
    retry.tell(True)
    assert all(retry.next() for _ in range(100))
