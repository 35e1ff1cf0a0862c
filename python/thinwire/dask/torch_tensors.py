"""torch tensors, on CPUs and GPUs.

distributed itself sends tensors by way of numpy, which has no bf16, and takes none on a GPU. Here
both travel: bf16 to workers that have Thinwire, tensors on a GPU to all that have one.
"""

from collections.abc import Mapping
from typing import Any

import torch
from distributed.protocol import torch as stock

import thinwire
from thinwire.dask import coding, handshake
from thinwire.dask.handshake import KEY, LAYOUT

CODED = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex64: "f32",
    torch.complex128: "f64",
}


def encode(
    t: Any, context: Mapping[str, Any], on_gpu: bool = False
) -> tuple[dict[str, Any], list[Any]] | None:
    """Header and frames, in host memory; None if distributed's own functions send the tensor:
    those with gradients, sparse and quantised ones, and all subclasses."""
    if on_gpu or not _is_simple(t):
        return None
    gpu = t.get_device() if t.device.type == "cuda" else None
    nbytes = t.numel() * t.element_size()
    frame = coding.encode(t, lambda: _floats(t), CODED.get(t.dtype), nbytes, gpu, context)
    if frame is None and t.dtype is torch.bfloat16 and handshake.peer_decodes(context):
        frame = thinwire.compress(_floats(t), "raw")
    if frame is None:
        return None if gpu is None else _plain(t)
    header = {
        KEY: LAYOUT,
        "dtype": str(t.dtype).removeprefix("torch."),
        "shape": tuple(t.shape),
        "device": t.device.type,
        "requires_grad": t.requires_grad,
    }
    return header, [frame if isinstance(frame, bytes) else memoryview(frame.to_bytes())]


def decode(header: Mapping[str, Any], frames: list[Any]) -> Any:
    """Raises DamagedFrame for a frame that is damaged or of another tensor."""
    if header[KEY] != LAYOUT:
        raise coding.damaged(f"a tensor of layout {header[KEY]} where this version reads {LAYOUT}")
    (frame,) = frames
    dtype = getattr(torch, header["dtype"])
    t = torch.empty(header["shape"], dtype=dtype, device=header["device"])
    nbytes, floats = t.numel() * t.element_size(), _floats(t)
    if t.device.type == "cpu" or coding.has_gpu_side():
        coding.decode(frame, nbytes, floats)
    else:
        host = torch.from_numpy(coding.decode(frame, nbytes))
        floats.copy_(host.view(floats.dtype).reshape(floats.shape))
    return t.requires_grad_(True) if header["requires_grad"] else t


def _is_simple(t: Any) -> bool:
    """Plain memory on a CPU or GPU, and no gradient to send along."""
    return (
        type(t) is torch.Tensor
        and t.layout is torch.strided
        and t.device.type in ("cpu", "cuda")
        and not (t.is_quantized or t.is_conj() or t.is_neg())
        and t.numel() > 0
        and t.dim() > 0
        and 0 not in t.stride()
        and not (t.is_leaf and t.grad is not None)
    )


def _plain(t: Any) -> tuple[dict[str, Any], list[Any]]:
    """A tensor on a GPU, as distributed's own functions read it. (bf16 fails, as it does there.)"""
    header, frames = stock.serialize_torch_Tensor(t.detach().cpu())
    return header | {"device": t.device.type, "requires_grad": t.requires_grad}, frames


def _floats(t: Any) -> Any:
    """The values as contiguous floats: of a contiguous tensor a view."""
    t = t.detach().contiguous()
    return torch.view_as_real(t) if t.is_complex() else t
