import pytest

from thinwire.demo import model

RAW = model.RawRun(seconds=10.0, comm_seconds=8.0, bytes_one_way=80_000_000)


def test_no_run_passes_the_limit():
    # The least arithmetic of the three is 1.5 s.
    runs = [(10.0, 8.0), (3.0, 1.5), (4.0, 2.0)]
    limit = model.speedup_limit(RAW, runs)
    assert limit == pytest.approx(10 / 1.5)
    assert all(RAW.seconds / seconds <= limit for seconds, _ in runs)


def test_ratio():
    assert model.compression_ratio(1000, 250) == 4
    assert model.compression_ratio(0, 0) == 1


def test_link_share_is_the_explained_part():
    assert model.link_share(RAW, 10e6) == pytest.approx(1.0)
    assert model.link_share(RAW, 20e6) == pytest.approx(0.5)


def test_every_message_pays_for_its_burst():
    # 5 s and 100 messages of 50 kB at 10 MB/s: 5.5 s.
    assert model.speedup_without_bursts(RAW, 5.0, 100, 50_000, 10e6) == pytest.approx(10 / 5.5)
    assert model.speedup_without_bursts(RAW, 5.0, 100, 0, 10e6) == 2
