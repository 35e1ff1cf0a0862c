"""Fill values under codecs without a bound: declined on the GPU where they are on the CPU."""

import numpy as np
import pytest
from gpu_calls import DeviceBuffer, bound, encode, encode_on_host, options_struct, shape_struct
from gpu_data import Coder, make

from thinwire.library import library

pytestmark = pytest.mark.usefixtures("cuda")

SPECS = ("szp:rel=1e-3", "zfp:rate=16", "blockq", "szp:abs=1e-3")
SHAPES = ((1000,), (70001,), (129, 131), (33, 17, 29), (1 << 21,))


def encode_on_gpu(spec: str, values: np.ndarray, flags: int, offset: int = 0) -> tuple[int, bytes]:
    codec, shape = Coder(spec, "f32", 3).codec(), shape_struct("f32", values.shape)
    source, frame = DeviceBuffer(values, offset), DeviceBuffer(bound(codec, shape))
    status, written = encode(
        codec, shape, source.address, frame.address, frame.nbytes, options_struct(flags)
    )
    return status, frame.read()[: written if status == 0 else 0].tobytes()


def with_fill(shape: tuple[int, ...], fill: float) -> np.ndarray:
    values = make("smooth", "f32", shape).copy()
    values.reshape(-1)[:: 50 if fill else values.size + 1] = fill
    return values


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_the_frames_are_the_cpus(spec: str, shape: tuple[int, ...]) -> None:
    lib = library()
    for fill in (0.0, 9.96921e36, 1e20, float(np.finfo(np.float32).max)):
        values = with_fill(shape, fill)
        for flags in (0, lib.TW_MESSAGE_DECLINE, lib.TW_MESSAGE_INTEGERS):
            status, data = encode_on_host(
                Coder(spec, "f32", 3).codec(), "f32", shape, values, flags
            )
            expected = (status, data.tobytes() if status == 0 else b"")
            for offset in (0, 4, 1):
                assert encode_on_gpu(spec, values, flags, offset) == expected, (fill, flags, offset)


@pytest.mark.parametrize("spec", SPECS[:3])
def test_fill_values_are_declined(spec: str) -> None:
    lib = library()
    for fill, wanted in ((0.0, 0), (1e36, lib.TW_DECLINED)):
        status, _ = encode_on_gpu(spec, with_fill((70001,), fill), lib.TW_MESSAGE_DECLINE)
        assert status == wanted
