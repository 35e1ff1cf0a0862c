import pytest
from made_up_links import SlowLink

from thinwire.bench.expected import Expected, allowed_speedup, refill_seconds
from thinwire.bench.p2p import NATIVE, Runs
from thinwire.bench.p2p_rows import make_rows

HALF = Expected(
    compressed=True, identical=False, ratio=2, encode_seconds=0.001, decode_seconds=0.002
)


def test_the_model_adds_codec_and_transfer_to_the_startup():
    # 11 ms raw, of which 1 ms is startup: compressed 1 + 3 + 10/2 = 9 ms.
    assert allowed_speedup(0.011, 0.001, HALF) == pytest.approx(11 / 9)


def test_a_link_that_outruns_the_codec_is_a_loss():
    assert allowed_speedup(0.001, 0.0, HALF) == pytest.approx(0.001 / 0.0035)


def test_a_raw_message_wins_nothing():
    raw = Expected(compressed=False, identical=True)
    assert allowed_speedup(0.003, 0.0005, raw) == 1


def test_the_bucket_refills_for_as_long_as_it_is_not_full():
    assert refill_seconds(HALF, burst_bytes=65536, bytes_per_second=1.25e8) == 65536 / 1.25e8
    assert refill_seconds(HALF, burst_bytes=65536, bytes_per_second=1.25e7) == 0.001
    assert refill_seconds(HALF, burst_bytes=0, bytes_per_second=None) == 0


def make_row(native: float, compressed: float, dropped: int = 0):
    """The row of 1000 bytes that shrink to half, from figures that no program measured."""

    def run(seconds: float, identical: bool) -> dict[int, dict]:
        line = {"min": seconds, "median": seconds, "messages": 4, "verified": True}
        line |= {"identical": identical, "max_error": 0.0}
        return {8: line | {"median": 0.0}, 1000: line}

    report = {"compressed_messages": 4, "decoded_messages": 4, "damaged_messages": 0}
    runs = {NATIVE: Runs([run(native, True)]), "half": Runs([run(compressed, False)], [report])}
    (row,) = make_rows(SlowLink(dropped), runs, {("half", 1000): HALF})
    return row


def test_a_row_has_the_speedup_of_its_times():
    row = make_row(native=1.04, compressed=0.52)
    assert row.verified and row.speedup == pytest.approx(2) and row.refill_seconds == 0.001
    assert row.raw_bits_per_second == pytest.approx(8000 / 1.04)


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        ({"native": 0.9, "compressed": 0.52}, "native messages beat the link"),
        ({"native": 1.04, "compressed": 0.48}, "compressed messages beat the link"),
        ({"native": 1.04, "compressed": 0.52, "dropped": 3}, "3 packets dropped"),
    ],
)
def test_times_that_the_link_cannot_give_are_no_result(figures, reason):
    row = make_row(**figures)
    assert not row.verified and reason in row.note and row.speedup is None
