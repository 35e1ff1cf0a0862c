"""The golden vectors of tests/vectors, coded on a GPU."""

from pathlib import Path

import frame_bytes
import golden_vectors
import numpy as np
import pytest
from golden_vectors import Case
from gpu_calls import DeviceBuffer, bound, decode, encode, shape_struct

from thinwire import Codec
from thinwire.library import library


def decoded_on_gpu(frame: np.ndarray, case: Case) -> bytes | None:
    out = DeviceBuffer(case.values.nbytes)
    status = decode(DeviceBuffer(frame).address, frame.size, out.address, out.nbytes)
    assert status in (0, library().TW_DAMAGED), case.spec
    return None if status else out.read().tobytes()


def encoded_on_gpu(case: Case) -> np.ndarray:
    codec, shape = Codec(case.spec), shape_struct(case.dtype, case.values.shape)
    source, frame = DeviceBuffer(case.values), DeviceBuffer(bound(codec, shape))
    status, written = encode(codec, shape, source.address, frame.address, frame.nbytes)
    assert status == 0
    return frame.read()[:written]


@pytest.mark.parametrize("file", golden_vectors.FILES, ids=lambda file: file.stem)
def test_decoded(file: Path) -> None:
    golden_vectors.check_decoded(golden_vectors.read(file), decoded_on_gpu)


@pytest.mark.parametrize("file", golden_vectors.FILES, ids=lambda file: file.stem)
def test_encoded(file: Path) -> None:
    golden_vectors.check_encoded(golden_vectors.read(file), encoded_on_gpu)


def test_the_checksum_is_the_specs() -> None:
    data = bytes(index % 251 for index in range(5000))
    expected = {1: 0xD130E3CBA3ECBBA7, 1024: 0xAC139EE961C4E74C, 5000: 0x5B8C77AAF66B0E07}
    for length, value in expected.items():
        assert frame_bytes.checksum(data[:length]) == value
