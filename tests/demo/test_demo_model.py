import pytest

from thinwire.demo import model

RAW = model.RawRun(seconds=10.0, comm_seconds=8.0, bytes_one_way=80_000_000)


def test_ideal_speedup_by_hand():
    # 2 s of arithmetic + 0.4 s encode + 0.2 s decode + 40 MB at 10 MB/s = 6.6 s.
    speed = model.CodecSpeed(encode=200e6, decode=400e6)
    assert model.ideal_speedup(RAW, 2.0, 10e6, speed) == pytest.approx(10 / 6.6)


def test_a_codec_slower_than_the_link_loses():
    # 2 s + 2 s encode + 2 s decode + 40 MB at 10 MB/s = 10 s; with half the speed, 14 s.
    assert model.ideal_speedup(RAW, 2.0, 10e6, model.CodecSpeed(40e6, 40e6)) == pytest.approx(1)
    assert model.ideal_speedup(RAW, 2.0, 10e6, model.CodecSpeed(20e6, 20e6)) == pytest.approx(
        10 / 14
    )


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
