"""Whether an array is compressed, by the network's rate and by what codecs did with its like."""

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arrays_of_kinds import make, same
from connections import is_compressed, sent, through

import thinwire.dask
from thinwire.dask import choice, coding, link, setting

COUNT = 1 << 18


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[link.LinkRate]:
    """A process that has learned nothing; returns what it observes of the network."""
    monkeypatch.setattr(choice, "_histories", {})
    monkeypatch.setattr(choice, "_decoded", {})
    seen = link.LinkRate()
    monkeypatch.setattr(link.watch, "network", seen)
    setting.hold("test", setting.make("auto", "64KiB", None, False, False, None))
    thinwire.dask.stats(reset=True)
    yield seen
    setting.let_go("test")


def reasons() -> Counter[str]:
    return thinwire.dask.stats(reset=True).plain_by_reason


def test_the_link_decides(fresh: link.LinkRate) -> None:
    x = make("f4", COUNT - COUNT % 60)
    assert not is_compressed(sent(x)[0])
    assert reasons() == {"link not known yet": 1}
    fresh.observe(4 << 20, (4 << 20) / 5e5)  # 0.5 MB/s
    assert same(through(x), x)
    (row,) = (row for row in thinwire.dask.stats().classes.values() if row.compressed)
    assert row.predicted_seconds < row.predicted_plain_seconds
    assert row.ratio > row.needed_ratio >= 1
    fresh.observe(1 << 34, (1 << 34) / 1e12)
    for _ in range(3):
        assert not is_compressed(sent(x)[0])
    assert reasons() == {"would not gain": 3}


def test_a_codec_that_was_slow_comes_back(
    fresh: link.LinkRate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where others had the processor for a while."""
    fresh.observe(4 << 20, (4 << 20) / 5e5)
    slow = thinwire.CodecCost(1e4, 1e4, 1.4)
    monkeypatch.setattr(choice, "_first_cost", lambda spec, array: slow)
    x = make("f4")
    assert not is_compressed(sent(x)[0])
    assert reasons() == {"would not gain": 1}
    assert any(is_compressed(sent(x)[0]) for _ in range(65)), "it never came back"


TEN_GBIT = 1.25e9
LAUNCH = 1e-4


@pytest.fixture
def like_a_gpu(fresh: link.LinkRate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codecs take their time for any array, and little more for a large one."""

    def measure(codec: thinwire.Codec, dtype: str, nbytes: int, *, device: int) -> Any:
        assert device == 0
        rate = nbytes / (LAUNCH + nbytes / 5e10)
        return thinwire.CodecCost(rate, rate, 2.0)

    monkeypatch.setattr(thinwire.Codec, "measure", measure)


def why_plain(nbytes: int) -> str:
    array = choice.Array("f32", nbytes, 0, False)
    sample = choice.Sample(2.4, nbytes / LAUNCH, nbytes / LAUNCH)
    return choice.history_of("auto", array).why_plain(array, TEN_GBIT, lambda: sample)


def test_launches_are_not_counted_by_the_byte(like_a_gpu: None) -> None:
    assert why_plain(16 << 20) == why_plain(1 << 20) == ""
    assert why_plain(128 << 10) == "would not gain"


def test_small_arrays_say_nothing_of_how_fast_large_ones_decode(like_a_gpu: None) -> None:
    large = choice.Array("f32", 16 << 20, 0, False)
    assert why_plain(large.nbytes) == ""
    history = choice.history_of("auto", large)
    assert history.learn(large, TEN_GBIT, 4 * LAUNCH, large.nbytes // 2, "lorenzo")
    for _ in range(7):
        choice.learn_decode("lorenzo", "f32", True, 64 << 10, LAUNCH)
    assert why_plain(large.nbytes) == ""
    for _ in range(7):
        choice.learn_decode("lorenzo", "f32", True, large.nbytes, 200 * LAUNCH)
    assert why_plain(large.nbytes) == "would not gain"


@pytest.mark.parametrize(
    ("gpu", "count", "tried"),
    [
        (None, 1 << 16, 1 << 13),
        (None, 1 << 20, 1 << 16),
        (0, 1 << 16, 1 << 16),
        (0, 5 << 20, 4 << 20),
    ],
)
def test_how_much_is_tried(
    gpu: int | None, count: int, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU a part is no quicker than an array, and would say that the array is slow."""
    parts = []

    def compress(part: np.ndarray, codec: thinwire.Codec, *, dtype: str) -> bytes:
        parts.append(part)
        return bytes(part.nbytes // 2)

    monkeypatch.setattr(thinwire, "compress", compress)
    monkeypatch.setattr(thinwire, "decompress", lambda frame: None)
    x = np.arange(count, dtype="f4")
    found = coding._sample(x, "auto", choice.Array("f32", x.nbytes, gpu, False))
    (part,) = parts
    assert found.ratio == 2 and len(part) == tried
    assert part[0] == count - 1 - part[-1], "not from the middle"


def test_a_stated_link_is_believed(fresh: link.LinkRate) -> None:
    setting.hold("test", setting.make("auto", "64KiB", "1mbit", False, False, None))
    assert is_compressed(sent(make("f4"))[0])
    setting.hold("test", setting.make("auto", "64KiB", 1e12, False, False, None))
    assert not is_compressed(sent(make("f4"))[0])


def test_data_that_does_not_shrink_is_tried_ever_more_rarely(fresh: link.LinkRate) -> None:
    fresh.observe(4 << 20, (4 << 20) / 5e5)
    noise = np.random.default_rng(0).integers(0, 2**32, COUNT, "u4").view("f4")
    for _ in range(300):
        assert not is_compressed(sent(noise)[0])
    counted = reasons()
    assert set(counted) == {"too little gained", "data declined lately"}
    assert counted["too little gained"] == 11  # after 0, 0, 1, 2, 4, 8, 16, 32, 63, 62, 63 others
    x = make("f4", COUNT - COUNT % 60)
    assert any(is_compressed(sent(x)[0]) for _ in range(65)), "it never came back"


def test_a_marked_array_is_weighed_too(fresh: link.LinkRate) -> None:
    fresh.observe(1 << 30, (1 << 30) / 1e12)
    assert not is_compressed(sent(thinwire.dask.lossy(make("f8"), rate=8))[0])
    assert list(reasons()) == ["would not gain"]


def test_the_kernel_says_how_fast_bytes_go() -> None:
    """Over a real connection: what was acknowledged, and time in which bytes were under way."""

    class Comm:
        same_host = False

        def __init__(self, connection: socket.socket) -> None:
            self.stream = type("Stream", (), {"socket": connection})()

    part, most = 8 << 20, 64  # the kernel counts time in ticks, of which a part may take none
    sent = 0
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()

        def drain() -> None:
            left = part
            while left:
                left -= len(other.recv(min(left, 1 << 16)))

        comm = Comm(one)
        acked, busy = link._acknowledged(comm) or pytest.fail("the kernel does not say")
        longer = busy
        while longer == busy and sent < most * part:
            reader = threading.Thread(target=drain)
            reader.start()
            one.sendall(bytes(part))
            reader.join(30)
            sent += part
            more, longer = link._acknowledged(comm)
        assert sent <= more - acked <= sent + 1 and longer > busy
        one.close()
        other.close()
        assert link._acknowledged(comm) is None
