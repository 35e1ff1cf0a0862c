"""How simulated messages travel: bursts of links, questions and notes, and the thread of a rank.
Times are known by hand."""

import dataclasses
from typing import Any

import pytest

from thinwire.codec import Codec, CodecCost
from thinwire.simulation import Machine, Simulation
from thinwire.simulation.run import Call, run

GB = 10**9
# Nothing but the links takes time.
BARE = Machine(GB, latency=0, message=0, inside=0, inside_latency=0, copy=0, coding=0)
WHOLE = 1 << 40  # one piece a block
BOXED = 1 << 20
MPC = Codec("mpc")


def chain(ranks: int, machine: Machine, piece_bytes: int = WHOLE, **given: Any) -> Simulation:
    """A Bcast of BOXED along a chain."""
    call = Call("bcast", BOXED, "f32", ranks, 1)
    asked = {"codec": None, "cost": None} | given
    return run(call, machine, algorithm="chain", coding="once", piece_bytes=piece_bytes, **asked)


@pytest.mark.parametrize(("pause", "passes"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (9.0, 1.0)])
def test_a_burst_passes_at_once_after_a_pause(pause: float, passes: float) -> None:
    """A bucket fills up at the link's rate; `pause` is in the times that it takes for that."""
    burst = BOXED // 4
    machine = dataclasses.replace(BARE, burst=burst, pause=pause * burst / GB)
    found = chain(2, machine)
    assert found.seconds == pytest.approx((BOXED - passes * burst) / GB)


def test_buckets_fill_up_before_a_later_hop() -> None:
    machine = dataclasses.replace(BARE, burst=BOXED // 4)
    found = chain(4, machine)
    assert found.seconds == pytest.approx((1 + 2 * 3 / 4) * BOXED / GB)


def test_a_long_message_is_asked_for() -> None:
    """A question, an answer, the values, and the note that ends them: a step of the software and
    the latency each, and one step more that takes the note."""
    machine = Machine(GB, latency=1e-3, message=1e-4, inside=0, copy=0, coding=0, eager=BOXED - 4)
    found = chain(2, machine)
    assert found.seconds == pytest.approx(3 * 1e-3 + 4 * 1e-4 + BOXED / GB)
    short = dataclasses.replace(machine, eager=BOXED)
    found = chain(2, short)
    assert found.seconds == pytest.approx(1e-3 + 1e-4 + BOXED / GB)


@pytest.mark.parametrize(("buffer", "pieces"), [(0, 4), (BOXED, 3)])
def test_notes_wait_for_values_that_are_posted_before_them(buffer: int, pieces: int) -> None:
    """Of two pieces along a chain of three: the note that ends the first goes after the second,
    unless the values of the first lie ready for the link before."""
    machine = dataclasses.replace(BARE, message=1e-9, eager=1, buffer=buffer)
    found = chain(3, machine, BOXED // 2)
    assert found.seconds == pytest.approx(pieces * BOXED / 2 / GB, rel=0.01)


@pytest.mark.parametrize(("threads", "encodes", "messages"), [(1, 2, 2), (2, 1, 2)])
def test_one_thread_codes_and_sends_in_turn(threads: int, encodes: int, messages: int) -> None:
    """Two pieces: one thread encodes, sends, encodes and sends; two encode both at once, while a
    third sends."""
    cost = CodecCost(BOXED / 2, 1e18, 2)  # a second a piece
    machine = dataclasses.replace(BARE, link=1e15, message=0.25, threads=threads)
    found = chain(2, machine, BOXED // 2, codec=MPC, cost=cost)
    assert found.seconds == pytest.approx(encodes + 0.25 * (messages + 1), rel=0.01)
