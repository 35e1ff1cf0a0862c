"""Which way transfers go, by what those of either way took. No cluster, no codec."""

import random
from collections.abc import Callable

import pytest

from thinwire.dask import counters, transfers
from thinwire.dask.counters import SLOWER
from thinwire.dask.guard import Guard, Paces

LINK = 1e8


@pytest.fixture(autouse=True)
def no_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "_stats", counters.DaskStats())


def transfer(of: Guard, pace: Callable[[bool], float], link: float = LINK) -> bool:
    """One, alone on its way; whether it went compressed."""
    if of.why_plain(True, link):
        return False
    seat = of.take(None, Paces(1.0, 2.0))
    of.leave(seat, pace(seat.compressed))
    return seat.compressed


def paces(compressed: float, plain: float = 1.0) -> Callable[[bool], float]:
    return lambda way: compressed if way else plain


def ways(of: Guard, count: int, pace: Callable[[bool], float], link: float = LINK) -> list[bool]:
    return [transfer(of, pace, link) for _ in range(count)]


def test_the_faster_way_stays() -> None:
    slower, faster = Guard("slower"), Guard("faster")
    first = ways(slower, 8, paces(1.25))
    assert first == ways(faster, 8, paces(0.75))
    assert first == [False, True, True, False, True, False, False, True]
    assert slower.why_plain(True, LINK) == SLOWER and faster.why_plain(True, LINK) == ""
    assert not any(ways(slower, 40, paces(1.25))) and all(ways(faster, 40, paces(0.75)))
    rows = counters.stats().classes
    assert rows["slower"].faster == "plain" and rows["faster"].faster == "compressed"
    assert rows["slower"].timed_rate == pytest.approx(1 / 1.25)
    assert rows["slower"].timed_plain_rate == pytest.approx(1)
    assert rows["slower"].predicted_rate == 1


def test_what_was_slower_is_tried_again_for_a_hundredth_of_the_time() -> None:
    of = Guard("again")
    ways(of, 8, paces(1.5))
    went = ways(of, 4000, paces(1.5))
    assert 0 < sum(went) * 0.5 <= 0.01 * 4000
    assert ways(of, 2000, paces(0.5))[-1], "it never came back"


def test_a_close_call_is_left_plain_and_kept_if_it_was_compressed() -> None:
    noise = random.Random(1)

    def close(way: bool) -> float:
        return (0.98 if way else 1.0) + noise.uniform(0.0, 0.04)

    fresh, old = Guard("fresh"), Guard("old")
    assert not any(ways(fresh, 60, close)[18:])
    ways(old, 10, paces(0.5))
    went = ways(old, 2000, close)
    assert sum(went) > 1900


def test_compressing_that_becomes_slower_is_timed_again_soon() -> None:
    of = Guard("slower later")
    assert ways(of, 30, paces(0.5))[-1]
    assert not any(ways(of, 60, paces(1.5))[30:])


def test_what_takes_many_times_as_long_is_given_up_sooner() -> None:
    assert sum(ways(Guard("hopeless"), 60, paces(9.0))) == 2


def test_a_slower_link_is_reason_to_time_again() -> None:
    of = Guard("link")
    ways(of, 10, paces(1.5))
    assert not any(ways(of, 10, paces(1.5), 2 * LINK))
    # A round, and another as what is expected follows the link.
    assert all(ways(of, 16, paces(0.2), LINK / 3)[12:])


def lost_by_chance(compressed: float) -> float:
    """Of programs of 400 transfers whose times vary by a third: the mean of their times, by what
    the faster way would have taken alone."""
    programs, took = 40, 0.0
    for seed in range(programs):
        noise = random.Random(seed)
        of = Guard(f"chance {compressed} {seed}")

        def pace(way: bool, noise: random.Random = noise) -> float:
            return paces(compressed)(way) * noise.lognormvariate(0, 0.3)

        took += sum(paces(compressed)(way) for way in ways(of, 400, pace))
    return took / (programs * 400 * min(compressed, 1.0))


@pytest.mark.parametrize(
    ("compressed", "most"), [(9.0, 1.05), (2.0, 1.04), (1.25, 1.04), (0.8, 1.09), (0.5, 1.05)]
)
def test_chance_decides_little(compressed: float, most: float) -> None:
    assert lost_by_chance(compressed) < most


def test_transfers_that_overlap_are_timed_all_the_same() -> None:
    """Four are on their way at any time: those that change ways are not counted."""
    for pace in (0.5, 2.0):
        of, open_ = Guard(f"overlap {pace}"), []
        for _ in range(200):
            if not of.why_plain(True, LINK):
                open_.append(of.take(None, Paces(1.0, 2.0)))
            if len(open_) == 4 or (open_ and of.why_plain(False, LINK)):
                seat = open_.pop(0)
                of.leave(seat, pace if seat.compressed else 1.0)
        assert counters.stats().classes[of.name].faster == ("compressed" if pace < 1 else "plain")


def test_transfers_beside_others_of_the_other_way_say_nothing() -> None:
    of = Guard("beside")
    plain = of.take(None, Paces(1.0, 2.0))  # the first one, and long on its way
    for _ in range(50):
        seat = of.take(True, Paces(1.0, 2.0))
        of.leave(seat, 0.001)
    of.leave(plain, 100.0)
    # Neither was counted, so what is decided is by those that follow, alone.
    assert not of.why_plain(True, LINK)
    assert not any(ways(of, 30, paces(1.5))[8:])
    assert counters.stats().classes["beside"].timed_plain_rate == pytest.approx(1)


def test_a_transfer_that_failed_is_not_counted() -> None:
    of = Guard("failed")
    for _ in range(100):
        of.leave(of.take(None, None), None)
    assert ways(of, 2, paces(1.0)) == [False, True]


def test_transfers_share_the_time_in_which_they_are_on_their_way() -> None:
    now = [0.0]
    shared = transfers.SharedTime(lambda: now[0])
    one = shared.enter()
    now[0] = 1.0
    other = shared.enter()
    now[0] = 3.0
    assert shared.leave() - one == 2.0
    now[0] = 4.0
    assert shared.leave() - other == 2.0
    now[0] = 9.0  # nothing was on its way since
    assert shared.enter() == 3.0


def test_a_message_has_one_way_for_all_that_is_timed() -> None:
    now = [0.0]
    one, other = Guard("one"), Guard("other")
    transfer(one, paces(1.0))  # so that it is ahead of the other one
    went = []
    for _ in range(40):
        message = transfers.Transfer(transfers.SharedTime(lambda: now[0]))
        message.add(50)
        message.add(50)
        assert not message.why_plain(one, LINK) and not message.why_plain(other, LINK)
        pair = message.compresses(one, None), message.compresses(other, None)
        assert pair == (message.compresses(one, None), message.compresses(other, None))
        went.append(pair)
        now[0] += sum(25.0 if compressed else 50.0 for compressed in pair)
        message.end(whole=True)
    assert all(a == b for a, b in went[:5])
    assert went[-1] == (True, True)
    assert counters.stats().classes["other"].timed_rate == pytest.approx(2.0)
    assert counters.stats().classes["one"].timed_plain_rate == pytest.approx(1.0)
