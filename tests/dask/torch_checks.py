"""Run by the Python of `make torch`: tensors in host memory through Dask's serialisers."""

import torch
from connections import context, is_compressed, sent, through
from distributed.protocol.serialize import deserialize, serialize

import thinwire
import thinwire.dask
from thinwire.dask import setting
from thinwire.dask.coding import DamagedFrame

setting.hold("test", setting.make("lossless", 1, None, False, True, None))
wave = torch.linspace(-9, 9, 60_000, dtype=torch.float64).sin().reshape(60, -1)

for dtype in (
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
):
    t = wave.to(dtype)
    for each in (t, t.T, t[:, ::2], t.clone().requires_grad_(True)):
        arrived = through(each)
        assert arrived.dtype is dtype and arrived.requires_grad == each.requires_grad
        assert torch.equal(arrived, each), (dtype, each.stride())

with_gradient = wave.clone().requires_grad_(True)
with_gradient.square().sum().backward()
plain = [
    torch.arange(9),
    torch.tensor(2.5),
    torch.empty(0, 3),
    wave[:1].expand(5, -1),
    with_gradient,
    torch.nn.Parameter(wave.clone()),
]
for each in plain:
    header, frames = sent(each)
    assert not is_compressed(header)
    assert torch.equal(deserialize(header, frames), each)

# bf16, which numpy has not: a raw frame if compression is off or does not pay.
setting.hold("test", setting.make("off", 1, None, False, True, None))
header, frames = sent(wave.bfloat16())
assert thinwire.inspect(frames[0]).spec == "raw"
assert torch.equal(deserialize(header, frames), wave.bfloat16())

marked = thinwire.dask.lossy(wave.float(), abs=1e-3)
setting.hold("test", setting.make("lossless", 1, None, False, True, None))
assert 0 < (through(marked) - wave.float()).abs().max() <= 1e-3
assert torch.equal(through(wave.float()), wave.float())
try:
    thinwire.dask.lossy(torch.arange(9), abs=1e-3)
except ValueError as error:
    assert "for floats: this array is of torch.int64" in str(error)
else:
    raise AssertionError("integers were marked")

header, (frame,) = serialize(wave, on_error="raise", context=context())
damaged = bytearray(frame)
damaged[len(damaged) // 2] ^= 1
try:
    deserialize(header, [damaged])
except DamagedFrame:
    print("ok")
