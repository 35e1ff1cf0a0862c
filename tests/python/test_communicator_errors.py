"""What communicators refuse, and what they do when something breaks."""

from collections.abc import Callable

import numpy as np
import pytest
from thread_ranks import Network, checked, ends_of, on_ranks, smooth, whole

import thinwire
from thinwire import IN_PLACE, Communicator, Transport

TW_UNSUPPORTED, TW_VERSION, TW_DAMAGED = 2, 4, 5


@pytest.fixture
def pair():
    """Two ranks; calls that fail before anything is sent need no threads."""
    return thinwire.local_ranks(2, codec="zfp:rate=16")


def floats(count: int = 64) -> np.ndarray:
    return np.zeros(count, np.float32)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([{"codec": "zfp:rate=8"}, {"codec": "zfp:rate=16"}], "zfp:rate=8.*zfp:rate=16"),
        ([{"threshold": "64KiB"}, {"threshold": 1}], "threshold.*65536"),
        ([{"link": "1gbit"}, {"link": "10gbit"}], "link"),
        ([{"piece": "1MiB"}, {}], "piece"),
        ([{"nodes": [0, 0, 0]}, {"nodes": [0, 0, 1]}], "nodes"),
        ([{"job": b"one"}, {"job": b"two"}], "job"),
        ([{"references": "1MiB"}, {}], "references=1048576 bytes.*references=none"),
    ],
)
def test_different_options_are_refused_on_every_rank(options, words):
    """Rank 2 agrees with rank 0, and is refused all the same."""
    ends = Transport.local(3)
    each = [*options, options[0]]
    failed = on_ranks(ends, lambda end: Communicator(end, **each[end.rank]))
    for error in failed:
        assert isinstance(error, thinwire.ThinwireError) and error.status == TW_VERSION
    with pytest.raises(thinwire.ThinwireError, match=words):
        raise failed[2]


def armed(network: Network) -> list[Communicator]:
    """Four ranks that have agreed; from now on the network has its faults."""
    ends = ends_of(network, 4)
    comms = checked(
        on_ranks(ends, lambda end: Communicator(end, codec="zfp:rate=16", threshold=0, piece=4096))
    )
    network.armed = True
    return comms


def body_of(operation: str) -> Callable[[Communicator], None]:
    def body(comm: Communicator) -> None:
        own, result = smooth("f32", 400000, comm.rank).copy(), np.empty(400000, np.float32)
        if operation == "Bcast":
            comm.Bcast(own)
        elif operation == "Allgather":
            comm.Allgather(own[:100000], result)
        else:
            comm.Allreduce(own, result)

    return body


@pytest.mark.parametrize("operation", ["Bcast", "Allgather", "Allreduce"])
@pytest.mark.parametrize("after", [0, 1, 5, 20])
def test_a_network_that_fails_is_an_error_on_every_rank(operation, after):
    network = Network(fails_after=after)
    comms, body = armed(network), body_of(operation)
    errors = on_ranks(comms, body)
    # A rank may have all that it needs before the network goes.
    assert any(errors)
    for error in filter(None, errors):
        assert isinstance(error, thinwire.ThinwireError)
    network.armed = False
    again = on_ranks([comm for comm, error in zip(comms, errors, strict=True) if error], body)
    for error in again:
        assert "earlier call" in str(error)


@pytest.mark.parametrize("operation", ["Bcast", "Allgather", "Allreduce"])
def test_damage_is_an_error_and_nobody_waits_for_ever(operation):
    network = Network(damages=3)
    comms, body = armed(network), body_of(operation)
    errors = on_ranks(comms, body)
    assert network.received >= 3
    assert isinstance(errors[1], thinwire.ThinwireError) and errors[1].status == TW_DAMAGED
    network.armed = False
    # The transport is sound, and so is the next call.
    checked(on_ranks(comms, body))


# ---- Buffers ----


def test_arrays_that_are_not_contiguous_are_named(pair):
    comm = pair[0]
    strided = floats(128)[::2]
    with pytest.raises(ValueError, match="send buffer.*not contiguous"):
        comm.Allreduce(strided, floats())
    with pytest.raises(ValueError, match="receive buffer.*not contiguous"):
        comm.Allreduce(floats(), strided)
    with pytest.raises(ValueError, match="receive buffer.*not contiguous"):
        comm.Bcast(np.zeros((8, 8), np.float32).T)


def test_what_cannot_be_written_to_is_named(pair):
    fixed = floats()
    fixed.flags.writeable = False
    for buffer in (fixed, bytes(256), [1.0, 2.0]):
        with pytest.raises((ValueError, TypeError), match="receive buffer"):
            pair[1].Bcast([buffer] if isinstance(buffer, list) else buffer)
        with pytest.raises((ValueError, TypeError), match="receive buffer"):
            pair[0].Bcast([buffer] if isinstance(buffer, list) else buffer, root_decodes=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.Allreduce(floats(64), floats(63)), "receive buffer: 63 elements, where 64"),
        (lambda c: c.Allgather(floats(64), floats(64)), "send buffer: 64 elements, where 32"),
        (lambda c: c.Allgather(floats(5), floats(11)), "11 elements are no 2 equal blocks"),
        (lambda c: c.Alltoall(floats(63), floats(63)), "no 2 equal blocks"),
        (lambda c: c.Bcast([floats(8), 9]), "8 elements, where 9"),
        (lambda c: c.Bcast([floats(8), -1]), "-1 is no count"),
        (lambda c: c.Allgatherv(floats(4), [floats(8), [4, 4, 4]]), "3 counts"),
        (lambda c: c.Allgatherv(floats(4), [floats(8), [4, 4], [0, 5]]), "8 elements, where 9"),
        (lambda c: c.Gather(floats(4), IN_PLACE), "receive buffer"),
        (lambda c: c.Scatter(IN_PLACE, floats(4)), "for the root alone"),
        (lambda c: c.Reduce_scatter(IN_PLACE, floats(4)), "recvcounts"),
        (lambda c: c.Allreduce(floats(), floats(), op="SUM"), "'SUM' is none of SUM"),
        (lambda c: c.Bcast(floats(), algorithm="magic"), "'magic' is none of"),
        (lambda c: c.plan("broadcast", 1), "'broadcast' is none of bcast"),
    ],
)
def test_buffers_and_words_that_do_not_fit(pair, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call(pair[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.Allreduce(floats(), np.zeros(64)), "send buffer: f32, receive buffer: f64"),
        (lambda c: c.Bcast(np.array([None])), "Python objects"),
        (lambda c: c.Bcast([floats(), "f33"]), "'f33' is no element type"),
        (lambda c: c.Bcast(floats(), speed=3), "takes no speed"),
    ],
)
def test_elements_that_do_not_fit(pair, call, words):
    with pytest.raises(TypeError, match=words):
        call(pair[0])


def test_what_no_schedule_does_is_told_before_anything_is_sent(pair):
    with pytest.raises(thinwire.ThinwireError) as failed:
        pair[0].Bcast(floats(), algorithm="pairwise")
    assert failed.value.status == TW_UNSUPPORTED
    with pytest.raises(thinwire.ThinwireError, match="root"):
        pair[0].Bcast(floats(), root=2)


# ---- Life ----


def test_a_plan_is_what_a_call_then_does():
    comms = thinwire.local_ranks(3, codec="zfp:rate=8", threshold="16KiB")
    small, large = 1000, 100000

    def body(comm):
        planned = [comm.plan("allgather", count) for count in (small, large)]
        for count, plan in zip((small, large), planned, strict=True):
            report = comm.Allgather(whole("f32", count, 0), floats(3 * count))
            assert report is comm.last_report
            assert (report.why_raw, report.algorithm, report.coding) == (
                *(plan.why_raw, plan.algorithm, plan.coding),
            )
        return planned

    for below, above in checked(on_ranks(comms, body)):
        assert not below.compressed and "threshold" in below.why_raw
        assert above.compressed and above.wire_bytes == 0


def test_every_call_may_name_its_codec():
    def body(comm):
        array = smooth("f32", 50000, 0).copy()
        raw = comm.Bcast(array, codec="off")
        coded = comm.Bcast(array, codec=thinwire.Codec("zfp:rate=8"))
        return raw, coded

    comms = thinwire.local_ranks(2, codec="zfp:rate=16", threshold=0)
    (raw, coded), _ = checked(on_ranks(comms, body))
    assert raw.why_raw and raw.wire_bytes >= raw.raw_bytes == 200000
    assert coded.compressed and 3.5 < coded.ratio <= 4


def test_a_communicator_that_is_closed_says_so(pair):
    with pair[0] as comm:
        assert (comm.rank, comm.size, comm.codec.spec) == (0, 2, "zfp:rate=16")
        assert "rank 0 of 2" in repr(comm)
    comm.close()
    with pytest.raises(ValueError, match="closed"):
        comm.Bcast(floats())


def test_an_end_serves_one_communicator():
    (end,) = Transport.local(1)
    Communicator(end)
    with pytest.raises(ValueError, match="belongs to a communicator"):
        Communicator(end)
    with pytest.raises(thinwire.ThinwireError):
        Transport.local(0)
    with pytest.raises(ValueError, match="nodes: 3 numbers"):
        thinwire.local_ranks(2, nodes=[0, 0, 1])
