"""`thinwire.compress` and `decompress` on arrays of torch and cupy, and on our own."""

import gc
import subprocess
import sys

import cuda_driver
import numpy as np
import pytest
from gpu_calls import DeviceBuffer
from gpu_data import make

import thinwire
from thinwire.gpu import GpuArray, GpuMemory, copy_bytes

SPECS = ("mpc", "zfp:rate=8", "raw")


def on_gpu(values: np.ndarray, dtype: str = "f32") -> GpuArray:
    memory = GpuMemory(values.nbytes, 0)
    copy_bytes(memory.pointer, values.ctypes.data, values.nbytes)
    return GpuArray(memory, values.shape, dtype)


@pytest.fixture
def torch():
    module = pytest.importorskip("torch", reason="torch is not installed", exc_type=ImportError)
    if not module.cuda.is_available():
        pytest.skip("torch sees no GPU")
    return module


@pytest.fixture
def cupy():
    module = pytest.importorskip("cupy", reason="cupy is not installed", exc_type=ImportError)
    if not module.is_available():
        pytest.skip("cupy sees no GPU")
    return module


@pytest.mark.parametrize("spec", SPECS)
def test_our_own_arrays(spec: str) -> None:
    values = make("smooth", "f32", (70001,))
    ours = on_gpu(values)
    frame = thinwire.compress(ours, spec)
    expected = thinwire.compress(values, spec)
    assert isinstance(frame, thinwire.Frame) and frame.to_bytes() == expected
    assert frame.nbytes == len(expected) and frame.info == thinwire.inspect(expected)
    back = thinwire.decompress(frame)
    assert isinstance(back, GpuArray) and (back.shape, back.dtype) == ((70001,), "f32")
    assert back.numpy().tobytes() == thinwire.decompress(expected).tobytes()


def test_out_on_either_side() -> None:
    values = make("smooth", "f32", (70001,))
    frame = thinwire.compress(on_gpu(values), "mpc")
    host, there = np.empty_like(values), on_gpu(np.zeros_like(values))
    assert thinwire.decompress(frame, out=host) is host and np.array_equal(host, values)
    assert thinwire.decompress(frame.to_bytes(), out=there) is there
    assert np.array_equal(there.numpy(), values)
    with pytest.raises(ValueError, match="280000 bytes"):
        thinwire.decompress(frame, out=on_gpu(values[1:].copy()))
    with pytest.raises(TypeError, match="f16 elements"):
        thinwire.decompress(frame, out=on_gpu(np.zeros(140002, np.float16), "f16"))


def test_a_damaged_frame_is_an_exception() -> None:
    frame = np.frombuffer(thinwire.compress(make("smooth", "f32", (5000,)), "mpc"), np.uint8).copy()
    frame[frame.size // 2] ^= 1
    with pytest.raises(thinwire.ThinwireError, match="damaged"):
        thinwire.decompress(on_gpu(frame, "bytes"))


def test_a_failing_gpu_is_explained() -> None:
    with pytest.raises(thinwire.ThinwireError, match="thinwire env"):
        GpuMemory(1 << 46, 0)


def test_frames_take_no_more_room_than_they_need() -> None:
    before = thinwire.pool_counters(0).loaned_bytes
    frame = thinwire.compress(on_gpu(make("zeros", "f32", (16 << 20,))), "mpc")
    gc.collect()
    assert frame.nbytes < 8 << 20
    assert thinwire.pool_counters(0).loaned_bytes - before < 16 << 20


def test_memory_goes_back(cuda: None) -> None:
    """What others were shown goes back only behind their work; then it does go back."""
    before = thinwire.pool_counters(0).loaned_bytes
    ours = on_gpu(make("smooth", "f32", (1 << 20,)))
    pointer = ours.__cuda_array_interface__["data"][0]
    target = DeviceBuffer(ours.nbytes)
    with cuda_driver.stream() as stream:
        for _ in range(20):
            stream.copy(target.address, pointer, ours.nbytes)
        expected = ours.numpy()
        del ours
        gc.collect()
        other = on_gpu(np.zeros(1 << 20, np.float32))
    assert target.read().tobytes() == expected.tobytes()
    del target, other
    gc.collect()
    assert thinwire.pool_counters(0).loaned_bytes <= before


@pytest.mark.parametrize("spec", SPECS)
def test_torch(torch, spec: str) -> None:
    values = torch.sin(torch.arange(70001, device="cuda") * 0.01)
    frame = thinwire.compress(values, spec)
    assert frame.to_bytes() == thinwire.compress(values.cpu().numpy(), spec)
    back = torch.from_dlpack(thinwire.decompress(frame))
    assert back.is_cuda and back.dtype == torch.float32 and back.shape == values.shape
    if spec != "zfp:rate=8":
        assert torch.equal(back, values)
    out = torch.empty_like(values)
    assert thinwire.decompress(frame, out=out) is out and torch.equal(out, back)
    as_bytes = torch.from_dlpack(frame)
    assert as_bytes.dtype == torch.uint8 and bytes(as_bytes.cpu().numpy()) == frame.to_bytes()
    assert torch.equal(torch.from_dlpack(thinwire.decompress(as_bytes)), back)


def test_torch_bf16_and_shapes(torch) -> None:
    values = torch.randn(3, 50, 70, device="cuda").to(torch.bfloat16)
    frame = thinwire.compress(values, "raw")
    assert (frame.info.dtype, frame.info.shape) == ("bf16", (3, 50, 70))
    back = torch.from_dlpack(thinwire.decompress(frame))
    assert back.dtype == torch.bfloat16 and torch.equal(back, values)
    with pytest.raises(ValueError, match="contiguous"):
        thinwire.compress(values.transpose(0, 2), "raw")


@pytest.mark.parametrize("shape", [(), (0, 30), (2, 4, 5, 50, 30)], ids=str)
def test_torch_arrays_come_back_in_their_shape(torch, shape: tuple[int, ...]) -> None:
    values = torch.rand(shape, device="cuda")
    for codec in ("mpc", "raw"):
        frame = thinwire.compress(values, codec)
        back = torch.from_dlpack(thinwire.decompress(frame))
        assert frame.info.shape == tuple(back.shape) == shape and torch.equal(back, values)
        assert thinwire.compress(values.cpu().numpy(), codec) == frame.to_bytes()
        assert thinwire.inspect(torch.from_dlpack(frame)).shape == shape
        assert thinwire.decompress(frame.to_bytes()).shape == shape


def test_torch_on_a_stream_of_its_own(torch) -> None:
    """Without a word, and with the stream named: work that is still queued is waited for."""
    stream = torch.cuda.Stream()
    for named in (None, stream, stream.cuda_stream):
        with torch.cuda.stream(stream):
            values = torch.zeros(1 << 22, device="cuda")
            for _ in range(200):
                values += 0.25
            frame = thinwire.compress(values, "mpc", stream=named)
            back = torch.from_dlpack(thinwire.decompress(frame, stream=named))
            assert torch.equal(back, torch.full_like(values, 50.0))


def test_cupy(cupy) -> None:
    values = cupy.sin(cupy.arange(70001, dtype=cupy.float64) * 0.01)
    frame = thinwire.compress(values, "mpc")
    assert frame.to_bytes() == thinwire.compress(cupy.asnumpy(values), "mpc")
    back = cupy.asarray(thinwire.decompress(frame))
    assert back.dtype == cupy.float64 and bool((back == values).all())
    out = cupy.empty_like(values)
    thinwire.decompress(frame, out=out)
    assert bool((out == values).all())
    with pytest.raises(ValueError, match="contiguous"):
        thinwire.compress(values[::2], "raw")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        later = values * 2
        assert thinwire.compress(later, "mpc", stream=stream).info.shape == (70001,)


def test_the_cuda_array_interface_alone(cupy) -> None:
    class Plain:
        """As of libraries without DLPack."""

        def __init__(self, array) -> None:
            self.kept, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    values = cupy.arange(5000, dtype=cupy.float32)
    frame = thinwire.compress(Plain(values), "mpc")
    out = cupy.zeros_like(values)
    thinwire.decompress(Plain(cupy.asarray(frame)), out=Plain(out))
    assert bool((out == values).all())


def test_a_graph_of_torch(torch) -> None:
    """Waiting calls inside a capture are refused; afterwards all is well."""
    values = torch.ones(1 << 16, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    refusals = (thinwire.ThinwireError, RuntimeError)
    with pytest.raises(refusals), torch.cuda.graph(graph):
        stream = torch.cuda.current_stream()
        thinwire.compress(on_torch(values), "mpc", stream=stream)
    torch.cuda.synchronize()
    assert thinwire.decompress(thinwire.compress(values, "mpc")).shape == (1 << 16,)


def on_torch(values) -> object:
    """The tensor's memory without its library: no waiting among streams in a capture."""

    class Plain:
        __cuda_array_interface__ = values.__cuda_array_interface__

    return Plain()


LOST = """
import os, torch, thinwire
class Plain:
    def __init__(self, interface): self.__cuda_array_interface__ = interface
values = torch.sin(torch.arange(1 << 18, dtype=torch.float32, device="cuda"))
plain = Plain(values.__cuda_array_interface__)
frame = thinwire.compress(values, "mpc")
on_host = frame.to_bytes()
try:
    values[torch.tensor([1 << 20], device="cuda")].sum().item()
except RuntimeError:
    pass
for call in (lambda: thinwire.compress(plain, "mpc"), lambda: thinwire.decompress(frame)):
    for again in range(2):
        try:
            call()
        except thinwire.ThinwireError as error:
            print("refused", error.status, flush=True)
print("host", thinwire.decompress(on_host).size, flush=True)
os._exit(0)
"""


def test_a_lost_gpu_is_an_error(torch, tmp_path) -> None:
    """A kernel that fails ends the context: calls say so, none hangs, host memory goes on."""
    script = tmp_path / "lost.py"
    script.write_text(LOST)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("refused 9") == 4, done.stdout + done.stderr
    assert f"host {1 << 18}" in done.stdout
