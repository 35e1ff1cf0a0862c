import pytest

from thinwire.bench.expected import Expected, allowed_speedup, refill_seconds

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
