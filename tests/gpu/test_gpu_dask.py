"""cupy arrays and torch tensors on a GPU through Dask's serialisers."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if find_spec("distributed") is None:
    pytest.skip("no distributed", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parents[1] / "dask"))

from arrays_of_kinds import make, same  # noqa: E402
from connections import context, is_compressed, sent, through  # noqa: E402
from distributed.protocol.serialize import deserialize, serialize  # noqa: E402

import thinwire  # noqa: E402
import thinwire.dask  # noqa: E402
from thinwire.dask import setting  # noqa: E402

KINDS = ["f2", "f4", "f8", "c8", "c16", "fortran", "gaps", "five", "special"]


@pytest.fixture(autouse=True)
def forced() -> Iterator[None]:
    setting.hold("test", setting.make("lossless", 1, None, False, True, None))
    yield
    setting.let_go("test")


@pytest.fixture
def cupy() -> Any:
    return pytest.importorskip("cupy")


@pytest.fixture
def torch() -> Any:
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_cupy_arrays(cupy: Any, kind: str) -> None:
    host = make(kind)
    x = cupy.asarray(host, order="F" if kind == "fortran" else "C")
    if kind == "gaps":
        x = cupy.asarray(make("f8").reshape(60, -1))[:, ::2]
    arrived = through(x)
    assert (
        type(arrived) is cupy.ndarray
        and arrived.strides == cupy.asarray(host, order="F" if kind == "fortran" else "C").strides
    )
    assert same(np.ascontiguousarray(arrived.get()), np.ascontiguousarray(host))


def test_cupy_arrays_that_stay_plain(cupy: Any) -> None:
    for x in (cupy.arange(9), cupy.empty((0, 3), "f4"), cupy.array(2.5), cupy.ones(5) > 0):
        assert not is_compressed(sent(x)[0])
    assert not is_compressed(sent(cupy.asarray(make("f4")), ready=False)[0])


def test_frames_that_stay_on_the_gpu(cupy: Any) -> None:
    """The family of connections such as UCX's."""
    host = make("fortran")
    (on_host,) = sent(host)[1]
    x = cupy.asarray(host, order="F")
    header, (frame,) = serialize(x, serializers=["cuda"], on_error="raise", context=context())
    assert is_compressed(header) and isinstance(frame, cupy.ndarray)
    assert frame.get().tobytes() == bytes(on_host) and frame.nbytes < x.nbytes
    arrived = deserialize(header, [frame.copy()])
    assert arrived.strides == x.strides and bool((arrived == x).all())
    plain, _ = serialize(x, serializers=["cuda"], context=context(ready=False))
    assert not is_compressed(plain)
    damaged = frame.copy()
    damaged[damaged.size // 2] ^= 1
    with pytest.raises(thinwire.ThinwireError):
        deserialize(header, [damaged])


def test_the_same_bytes_as_from_the_host(cupy: Any) -> None:
    host = make("f4")
    marked, on_gpu = (thinwire.dask.lossy(x, "zfp:rate=8") for x in (host, cupy.asarray(host)))
    (one,), (other,) = sent(marked)[1], sent(on_gpu)[1]
    assert bytes(one) == bytes(other)
    assert np.abs(through(on_gpu).get() - host).max() < 0.05
    # The mark is of that object.
    assert same(through(cupy.asarray(host)).get(), host)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_tensors_on_a_gpu(torch: Any, name: str) -> None:
    t = torch.linspace(-4, 4, 60_000, device="cuda").sin().to(getattr(torch, name)).reshape(60, -1)
    for each in (t, t[:, ::2], t.clone().requires_grad_(True)):
        arrived = through(each)
        assert arrived.device.type == "cuda" and arrived.dtype is t.dtype
        assert arrived.requires_grad == each.requires_grad and torch.equal(arrived, each)


def test_plain_tensors_on_a_gpu(torch: Any) -> None:
    """distributed alone sends none from a GPU."""
    t = torch.arange(60_000, device="cuda")
    header, frames = sent(t)
    assert not is_compressed(header)
    arrived = deserialize(header, frames)
    assert arrived.device.type == "cuda" and torch.equal(arrived, t)


@pytest.mark.gpu_alone
def test_the_guard_measures_the_gpu(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from thinwire.dask import choice, link

    seen = link.LinkRate()
    monkeypatch.setattr(link.watch, "network", seen)
    monkeypatch.setattr(choice, "_histories", {})
    monkeypatch.setattr(choice, "_decoded", {})
    setting.hold("test", setting.make("auto", "64KiB", None, False, False, None))
    x = cupy.asarray(np.sin(np.arange(1 << 22) / 1e4).astype("f4"))
    # Slow enough that it pays if other programs have the GPU most of the time.
    seen.observe(1 << 30, (1 << 30) / 12e6)
    assert is_compressed(sent(x)[0]), thinwire.dask.stats().classes
    seen.observe(1 << 40, (1 << 40) / 1e13)
    assert not is_compressed(sent(x)[0])
