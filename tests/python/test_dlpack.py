"""DLPack, with numpy as the other side."""

import gc
import weakref

import numpy as np
import pytest

from thinwire import dlpack

VERSIONS = [None, (1, 0)]


class Owner:
    """Something that a weak reference can watch."""


class Producer:
    """Lends `array` as our own GPU arrays are lent, but on the CPU, where numpy can take it."""

    def __init__(self, array: np.ndarray, owner: object) -> None:
        self.array, self.owner = array, owner

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CPU, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None) -> object:
        return dlpack.lend(
            self.owner,
            self.array.ctypes.data,
            (dlpack.CPU, 0),
            (2, 8 * self.array.itemsize),
            self.array.shape,
            versioned=max_version is not None,
        )


@pytest.mark.parametrize("version", VERSIONS)
def test_numpys_capsules_are_read(version: tuple[int, int] | None) -> None:
    data = np.arange(24, dtype=np.float64).reshape(2, 3, 4)[:, ::2]
    lent = dlpack.borrow(data.__dlpack__(max_version=version))
    assert lent.device == (dlpack.CPU, 0) and lent.type == (2, 64)
    assert lent.shape == (2, 2, 4) and lent.strides == (12, 8, 1)
    assert lent.pointer == data.ctypes.data and not lent.read_only


def test_a_read_only_array_says_so() -> None:
    data = np.zeros(3)
    data.flags.writeable = False
    assert dlpack.request(data, None).read_only


@pytest.mark.parametrize("version", VERSIONS)
def test_a_capsule_is_consumed_once_and_given_back(version: tuple[int, int] | None) -> None:
    data = np.zeros(1000)
    watch = weakref.ref(data)
    capsule = data.__dlpack__(max_version=version)
    lent = dlpack.borrow(capsule)
    assert "used_dltensor" in repr(capsule)
    with pytest.raises(TypeError, match="consumed before"):
        dlpack.borrow(capsule)
    del data, capsule
    gc.collect()
    assert watch() is not None, "the array died while its memory was borrowed"
    del lent
    gc.collect()
    assert watch() is None, "the deleter was not called"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_lent_array_lives_as_long_as_its_borrower(version: tuple[int, int] | None) -> None:
    data, owner = np.arange(6, dtype=np.float32).reshape(2, 3), Owner()
    watch = weakref.ref(owner)
    producer = Producer(data, owner)
    lent = dlpack.borrow(producer.__dlpack__(max_version=version))
    assert lent.shape == (2, 3) and lent.strides == (3, 1) and lent.pointer == data.ctypes.data
    del producer, owner
    gc.collect()
    assert watch() is not None
    del lent
    gc.collect()
    assert watch() is None


def test_numpy_takes_what_is_lent() -> None:
    data, owner = np.arange(10, dtype=np.float32), Owner()
    watch = weakref.ref(owner)
    taken = np.from_dlpack(Producer(data, owner))
    del owner
    assert np.array_equal(taken, data) and np.shares_memory(taken, data)
    del taken
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_capsule_that_nobody_takes_lets_go(version: tuple[int, int] | None) -> None:
    owner = Owner()
    watch = weakref.ref(owner)
    capsule = Producer(np.zeros(3), owner).__dlpack__(max_version=version)
    del owner
    gc.collect()
    assert watch() is not None
    del capsule
    gc.collect()
    assert watch() is None


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="not a DLPack capsule"):
        dlpack.borrow(3)
