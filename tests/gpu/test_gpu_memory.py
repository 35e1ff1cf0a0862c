"""Where memory lies, pools and their counters, memory of every kind, and what a GPU refuses."""

import ctypes
import mmap
import re
import threading
from pathlib import Path

import cuda_driver
import numpy as np
import pytest
from gpu_calls import (
    DeviceBuffer,
    Scratch,
    at,
    bound,
    copy,
    decode,
    encode,
    encode_on_host,
    options_struct,
    shape_struct,
)
from gpu_data import make

from thinwire import Codec, pool_counters
from thinwire.library import ffi, ffi_new, library, new_struct

COUNT = 70001
IDLE_BOUND = 512 << 20  # the library's own


def place_of(address: int) -> tuple[int, int]:
    """Kind of memory and GPU."""
    place = new_struct("tw_place")
    assert library().tw_place_of(at(address), place) == 0
    on_device = library().tw_on_device(at(address))
    kinds = (library().TW_MEMORY_DEVICE, library().TW_MEMORY_MANAGED)
    assert on_device == (place.memory in kinds)
    return place.memory, place.device


def check_round_trip(source: int, frame: int, out: int, values: np.ndarray) -> None:
    """Encode and decode between these addresses against the CPU; `frame` has the bound's room."""
    codec = Codec("mpc")
    shape = shape_struct("f32", values.shape)
    _, expected = encode_on_host(codec, "f32", values.shape, values)
    status, written = encode(codec, shape, source, frame, bound(codec, shape))
    assert status == 0 and written == expected.size
    found = np.empty(written, np.uint8)
    copy(found.ctypes.data, frame, written)
    assert np.array_equal(found, expected)
    assert decode(frame, written, out, values.nbytes) == 0
    back = np.empty_like(values)
    copy(back.ctypes.data, out, values.nbytes)
    assert np.array_equal(back, values)


def room_of_frames() -> int:
    return bound(Codec("mpc"), shape_struct("f32", (COUNT,)))


def test_places_of_host_memory() -> None:
    host = (library().TW_MEMORY_HOST, -1)
    heap, mapped = np.zeros(1 << 20, np.uint8), mmap.mmap(-1, 1 << 16)
    small = ffi_new("uint64_t *")
    maps = Path("/proc/self/maps").read_text()
    stack = re.search(r"-([0-9a-f]+) \S+ \S+ \S+ \S+ +\[stack\]", maps)
    addresses = [heap.ctypes.data, ctypes.addressof(ctypes.c_char.from_buffer(mapped)), 0]
    addresses.append(int(ffi.cast("uintptr_t", small)))
    if stack:
        addresses.append(int(stack[1], 16) - 4096)
    assert [place_of(address) for address in addresses] == [host] * len(addresses)


def test_places_of_the_pools() -> None:
    on_gpu, pinned = DeviceBuffer(1 << 20), Scratch.acquire(1 << 20, gpu=None)
    for offset in (0, 1, 4097, (1 << 20) - 1):
        assert place_of(on_gpu.address + offset) == (library().TW_MEMORY_DEVICE, 0)
        assert place_of(pinned.address + offset)[0] == library().TW_MEMORY_PINNED


def test_places_of_memory_of_others(cuda: None) -> None:
    lib = library()
    with cuda_driver.device(1 << 20) as on_gpu, cuda_driver.pinned(1 << 20) as pinned:
        assert place_of(on_gpu + 12345) == (lib.TW_MEMORY_DEVICE, 0)
        assert place_of(pinned + 12345)[0] == lib.TW_MEMORY_PINNED
    with cuda_driver.managed(1 << 20) as managed:
        assert place_of(managed + 1)[0] == lib.TW_MEMORY_MANAGED
    # Freed: anything but an answer that makes a caller touch it as GPU memory.
    assert [place_of(address)[0] for address in (on_gpu, managed)] == [lib.TW_MEMORY_HOST] * 2


def test_memory_of_another_context_is_refused(cuda: None) -> None:
    lib, place = library(), new_struct("tw_place")
    values = make("smooth", "f32", (COUNT,))
    frame = DeviceBuffer(room_of_frames())
    with cuda_driver.other_context(values.nbytes) as address:
        assert lib.tw_place_of(at(address), place) == lib.TW_UNSUPPORTED
        shape = shape_struct("f32", values.shape)
        status, _ = encode(Codec("mpc"), shape, address, frame.address, frame.nbytes)
        assert status == lib.TW_UNSUPPORTED
    frame.read()


def test_managed_and_pinned_memory(cuda: None) -> None:
    values = make("smooth", "f32", (COUNT,))
    room = room_of_frames()
    for kind in (cuda_driver.managed, cuda_driver.pinned, cuda_driver.device):
        with kind(values.nbytes) as source, kind(room) as frame, kind(values.nbytes) as out:
            copy(source, values.ctypes.data, values.nbytes)
            check_round_trip(source, frame, out, values)


def test_kinds_of_memory_mixed(cuda: None) -> None:
    values, room = make("smooth", "f32", (COUNT,)), room_of_frames()
    nbytes = values.nbytes
    kinds = [cuda_driver.managed, cuda_driver.pinned, cuda_driver.device]
    for first, second in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]:
        one, two = kinds[first], kinds[second]
        with one(nbytes) as source, two(room) as frame, one(nbytes) as out:
            copy(source, values.ctypes.data, nbytes)
            check_round_trip(source, frame, out, values)


@pytest.mark.several_gpus
def test_a_second_gpu_while_the_first_is_current(second_gpu: int) -> None:
    cuda_driver.use_gpu(0)
    values = make("smooth", "f32", (COUNT,))
    source = DeviceBuffer(values, gpu=second_gpu)
    frame, out = (DeviceBuffer(n, gpu=second_gpu) for n in (room_of_frames(), values.nbytes))
    assert place_of(source.address) == (library().TW_MEMORY_DEVICE, second_gpu)
    check_round_trip(source.address, frame.address, out.address, values)
    # And from one to the other.
    near = DeviceBuffer(values.nbytes)
    copy(near.address, source.address, values.nbytes)
    assert near.read().tobytes() == values.tobytes()
    check_round_trip(source.address, DeviceBuffer(room_of_frames()).address, near.address, values)


@pytest.mark.several_gpus
def test_a_frame_of_one_gpu_is_decoded_behind_a_stream_of_another(second_gpu: int) -> None:
    values, codec = make("smooth", "f32", (COUNT,)), Codec("mpc")
    _, frame = encode_on_host(codec, "f32", values.shape, values)
    ready, late = DeviceBuffer(frame), DeviceBuffer(frame.size)
    for gpu in (0, second_gpu):
        out = DeviceBuffer(values.nbytes, gpu=second_gpu)
        late.write(None)
        cuda_driver.use_gpu(gpu)
        with cuda_driver.stream() as stream:
            big = Scratch.acquire(256 << 20, gpu)
            for turn in range(10):
                stream.fill(big.address, turn, 256 << 20)
            stream.copy(late.address, ready.address, frame.size)
            options = options_struct(stream=stream.number)
            status = decode(late.address, frame.size, out.address, out.nbytes, options)
            assert status == 0 and out.read().tobytes() == values.tobytes()
    cuda_driver.use_gpu(0)


def test_copies_run_in_the_order_of_their_starts() -> None:
    nbytes = 64 << 20
    first, second, third = (DeviceBuffer(nbytes) for _ in range(3))
    first.write(np.arange(nbytes // 8))
    begun = []
    for target, source in ((second, first), (third, second)):
        copying = ffi_new("tw_copy **")
        status = library().tw_memory_copy_start(
            at(target.address), at(source.address), nbytes, copying
        )
        assert status == 0
        begun.append(copying[0])
    for copying in reversed(begun):
        assert library().tw_copy_finish(copying) == 0
    assert np.array_equal(third.read().view(np.int64), np.arange(nbytes // 8))


def test_what_is_released_twice_is_lent_once() -> None:
    scratch = Scratch.acquire(1 << 20)
    library().tw_scratch_release(at(scratch.address))
    del scratch
    lent = [Scratch.acquire(1 << 20) for _ in range(8)]
    assert len({each.address for each in lent}) == len(lent)


def test_nothing_is_allocated_once_warm() -> None:
    values, codec = make("smooth", "f32", (COUNT,)), Codec("mpc")
    shape = shape_struct("f32", values.shape)
    source, frame = DeviceBuffer(values), DeviceBuffer(bound(codec, shape))
    out = DeviceBuffer(values.nbytes)

    def work(times: int) -> None:
        for _ in range(times):
            status, written = encode(codec, shape, source.address, frame.address, frame.nbytes)
            assert status == 0
            assert decode(frame.address, written, out.address, out.nbytes) == 0

    work(3)
    before = [pool_counters(gpu).allocations for gpu in (0, None)]
    work(1000)
    assert [pool_counters(gpu).allocations for gpu in (0, None)] == before


def test_counters_follow_loans() -> None:
    before = pool_counters(0)
    lent = Scratch.acquire(3 << 20)
    during = pool_counters(0)
    assert during.loans == before.loans + 1
    assert during.loaned_bytes >= before.loaned_bytes + (3 << 20)
    del lent
    assert pool_counters(0).loaned_bytes == before.loaned_bytes


def test_many_threads_at_once() -> None:
    failures: list[str] = []

    def work(seed: int) -> None:
        try:
            values = make("smooth", "f32", (COUNT + seed,), seed)
            codec = Codec("mpc" if seed % 2 else "zfp:rate=8")
            shape = shape_struct("f32", values.shape)
            _, expected = encode_on_host(codec, "f32", values.shape, values)
            source, frame = DeviceBuffer(values), DeviceBuffer(bound(codec, shape))
            for _ in range(30):
                status, written = encode(codec, shape, source.address, frame.address, frame.nbytes)
                assert status == 0 and np.array_equal(frame.read()[:written], expected)
        except BaseException as error:  # reported by the test itself
            failures.append(f"{seed}: {error!r}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_pool_that_keeps_nothing_still_lends() -> None:
    idle = pool_counters(0).idle_bytes
    library().tw_pool_set_idle_bound(0)
    try:
        values = make("smooth", "f32", (COUNT,))
        for _ in range(3):
            source = DeviceBuffer(values)
            frame, out = DeviceBuffer(room_of_frames()), DeviceBuffer(values.nbytes)
            check_round_trip(source.address, frame.address, out.address, values)
        del source, frame, out
        assert pool_counters(0).idle_bytes <= idle
    finally:
        library().tw_pool_set_idle_bound(IDLE_BOUND)


def test_more_than_the_gpu_has_is_refused_and_all_goes_on() -> None:
    lib, out = library(), ffi_new("void **")
    for nbytes in (1 << 46, (1 << 64) - 1, (1 << 63) + 1):
        assert lib.tw_scratch_acquire(lib.TW_MEMORY_DEVICE, 0, nbytes, out) == lib.TW_DEVICE
        values = make("smooth", "f32", (COUNT,))
        buffers = [DeviceBuffer(n) for n in (values.nbytes, room_of_frames(), values.nbytes)]
        copy(buffers[0].address, values.ctypes.data, values.nbytes)
        check_round_trip(*(each.address for each in buffers), values)


def test_a_gpu_that_is_not_there_is_refused() -> None:
    lib, out = library(), ffi_new("void **")
    for gpu in (1000, -1):
        status = lib.tw_scratch_acquire(lib.TW_MEMORY_DEVICE, gpu, 256, out)
        assert status in (lib.TW_DEVICE, lib.TW_INVALID_ARGUMENT)
