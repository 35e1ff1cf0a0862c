"""Work in stream order: enqueued, captured and replayed, on streams of the user's."""

import threading
from types import SimpleNamespace

import cuda_driver
import numpy as np
import pytest
from cuda_driver import Capture
from enqueued import Enqueued
from gpu_calls import (
    DeviceBuffer,
    Scratch,
    bound,
    encode,
    encode_on_host,
    options_struct,
    shape_struct,
)
from gpu_data import Coder, coders, make

from thinwire import Codec
from thinwire.library import library

pytestmark = pytest.mark.usefixtures("cuda")

COUNT = 70001
NO_STREAM = SimpleNamespace(number=0)
KINDS = ("smooth", "special", "constant", "random", "smooth", "zeros")


def expected_of(coder: Coder, values: np.ndarray) -> tuple[int, np.ndarray]:
    # Enqueued work does not look for integers.
    flag = library().TW_MESSAGE_DECLINE | library().TW_MESSAGE_INTEGERS
    return encode_on_host(coder.codec(), coder.dtype, values.shape, values, flag)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_enqueued_is_as_waited_for(coder: Coder) -> None:
    """One workspace for all of it, used by encodes and decodes, good ones and declined ones."""
    with cuda_driver.stream() as stream:
        values = make("smooth", coder.dtype, (COUNT,))
        work = Enqueued(coder.codec(), coder.dtype, values, stream)
        for seed, kind in enumerate(KINDS):
            values = make(kind, coder.dtype, (COUNT,), seed=seed)
            expected = expected_of(coder, values)
            work.load(values)
            work.clear()
            assert work.encode() == 0
            if expected[0] == 0:  # before the frame is there: decode reads what encode will write
                assert work.decode(length=expected[1].size) == 0
            work.check(values, expected)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_a_graph_is_replayed_with_other_data(coder: Coder) -> None:
    """Encode and decode captured in one graph, the decode with the room behind as padding."""
    with cuda_driver.stream() as stream:
        values = make("smooth", coder.dtype, (COUNT,))
        work = Enqueued(coder.codec(), coder.dtype, values, stream)
        capture = Capture(stream)
        assert work.encode() == 0 and work.decode() == 0
        graph = capture.end()
        for seed in range(4):
            values = make("special" if seed == 2 else "smooth", coder.dtype, (COUNT,), seed)
            work.load(values)
            work.clear()
            graph.launch(stream)
            work.check(values, expected_of(coder, values))
        graph.close()


@pytest.mark.parametrize("coder", [each for each in coders(False) if each.max_rank > 1], ids=str)
def test_volumes_are_enqueued(coder: Coder) -> None:
    with cuda_driver.stream() as stream:
        values = make("smooth", coder.dtype, (45, 47, 49)[: coder.max_rank])
        work = Enqueued(coder.codec(), coder.dtype, values, stream)
        expected = expected_of(coder, values)
        assert work.encode() == 0 and work.decode() == 0
        work.check(values, expected)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_a_wrong_frame_makes_the_outcome_an_error(coder: Coder) -> None:
    with cuda_driver.stream() as stream:
        values = make("smooth", coder.dtype, (COUNT,))
        sound = encode_on_host(coder.codec(), coder.dtype, values.shape, values)[1]
        shorter = values[:-1].copy()
        other = encode_on_host(coder.codec(), coder.dtype, shorter.shape, shorter)[1]
        damaged = sound.copy()
        damaged[damaged.size // 2] ^= 0x10
        work = Enqueued(coder.codec(), coder.dtype, values, stream)
        noise = np.random.default_rng(4).integers(0, 256, sound.size).astype(np.uint8)
        for frame in (noise, other, damaged, sound[:-1], sound[:40], sound):
            work.load_frame(frame)
            work.clear()
            assert work.decode(length=frame.size) == 0
            assert (work.decoded()[0] == 0) == (frame is sound)


def test_what_cannot_be_enqueued_is_refused_at_once() -> None:
    with cuda_driver.stream() as stream:
        values = make("smooth", "f32", (COUNT,))
        work = Enqueued(Codec("mpc"), "f32", values, stream)
        lib = library()
        work.workspace_nbytes -= 1
        assert work.encode() == lib.TW_TOO_SMALL and work.decode() == lib.TW_TOO_SMALL
        work.workspace_nbytes += 1
        work.frame.nbytes -= 1
        assert work.encode() == lib.TW_TOO_SMALL
        work.frame.nbytes += 1
        assert (work.words == 0).all()
        work.encode()
        work.check_encoded(encode_on_host(work.codec, "f32", values.shape, values)[1])


def test_what_is_enqueued_names_its_stream() -> None:
    """NULL is the legacy stream to CUDA and the library's own elsewhere: here it is neither."""
    with cuda_driver.stream() as stream:
        values = make("smooth", "f32", (COUNT,))
        work = Enqueued(Codec("mpc"), "f32", values, stream)
        work.stream = NO_STREAM
        assert work.encode() == work.decode() == library().TW_INVALID_ARGUMENT
        work.stream = stream
        assert work.encode() == 0
        work.check_encoded(encode_on_host(work.codec, "f32", values.shape, values)[1])


def test_waiting_calls_on_a_captured_stream_are_refused() -> None:
    """The capture survives: what is enqueued before and behind the refused call is in the graph."""
    values, codec = make("smooth", "f32", (COUNT,)), Codec("mpc")
    shape = shape_struct("f32", values.shape)
    source, frame = DeviceBuffer(values), DeviceBuffer(bound(codec, shape))
    with cuda_driver.stream() as stream:
        work = Enqueued(codec, "f32", values, stream)
        capture = Capture(stream)
        options = options_struct(stream=stream.number)
        status, _ = encode(codec, shape, source.address, frame.address, frame.nbytes, options)
        assert status == library().TW_UNSUPPORTED
        assert work.encode() == 0
        status, _ = encode(codec, shape, source.address, frame.address, frame.nbytes, options)
        assert status == library().TW_UNSUPPORTED
        graph = capture.end()
        assert (work.words == 0).all()
        graph.launch(stream)
        work.check_encoded(encode_on_host(codec, "f32", values.shape, values)[1])
        graph.close()


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_waiting_calls_come_behind_their_stream(coder: Coder) -> None:
    """The array is copied to its place by a stream that is still busy when encode is called."""
    codec, values = coder.codec(), make("smooth", coder.dtype, (COUNT,))
    shape = shape_struct(coder.dtype, values.shape)
    ready, late = DeviceBuffer(values), DeviceBuffer(values.nbytes)
    big = Scratch.acquire(256 << 20)
    frame = DeviceBuffer(bound(codec, shape))
    _, expected = encode_on_host(codec, coder.dtype, values.shape, values)
    with cuda_driver.stream() as stream:
        for _ in range(5):
            late.write(None)
            for turn in range(10):
                stream.fill(big.address, turn, 256 << 20)
            stream.copy(late.address, ready.address, values.nbytes)
            options = options_struct(stream=stream.number)
            status, written = encode(
                codec, shape, late.address, frame.address, frame.nbytes, options
            )
            assert status == 0 and np.array_equal(frame.read()[:written], expected)


def test_two_threads_on_two_streams() -> None:
    failures: list[str] = []

    def work_on(kind: str) -> None:
        try:
            cuda_driver.use_gpu(0)
            with cuda_driver.stream() as stream:
                values = make(kind, "f32", (COUNT,))
                work = Enqueued(Codec("mpc"), "f32", values, stream)
                expected = encode_on_host(work.codec, "f32", values.shape, values)
                for _ in range(50):
                    work.clear()
                    assert work.encode() == 0 and work.decode(expected[1].size) == 0
                    work.check(values, expected)
        except BaseException as error:  # reported by the test itself
            failures.append(f"{kind}: {error!r}")

    threads = [threading.Thread(target=work_on, args=(kind,)) for kind in ("smooth", "constant")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
