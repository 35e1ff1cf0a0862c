"""Tensors of every kind, and changes of their bits, that the checks of sync_weights share."""

from typing import Any

import torch
import torch.distributed as dist

SMALL = "16KiB"  # a bucket, of which every_kind() has several
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
DTYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)


def bits(tensor: Any) -> Any:
    """A flat copy as integers."""
    plain = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return plain.detach().view(INTEGERS[plain.element_size()]).reshape(-1).clone()


def random_bits(count: int, dtype: Any, seed: int) -> Any:
    """All bit patterns, NaN with payloads and -0.0 among them; of bool the two that there are."""
    made = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=made).bool()
    width = torch.empty(0, dtype=dtype).element_size()
    data = torch.randint(0, 256, (count * width,), dtype=torch.uint8, generator=made)
    return data.view(dtype)


def every_kind(seed: int, size: int = 3001) -> dict[str, Any]:
    """A state dict; `seed` says which bits."""
    tensors = {
        f"of.{str(dtype)[6:]}": random_bits(size, dtype, seed + at)
        for at, dtype in enumerate(DTYPES)
    }
    whole = random_bits(60 * 50, torch.bfloat16, seed + 50).view(60, 50)
    tensors["transposed"] = whole.t()
    tensors["strided"] = random_bits(4000, torch.float32, seed + 51)[1::3]
    tensors["offset"] = random_bits(1003, torch.bfloat16, seed + 52)[1:]
    tensors["empty"] = torch.empty(0, 7)
    tensors["scalar"] = random_bits(1, torch.float32, seed + 53)[0]
    tensors["complex"] = random_bits(101, torch.complex64, seed + 54)
    tensors["tied"] = tensors["of.bfloat16"]
    tensors["expanded"] = random_bits(5, torch.float32, seed + 55).view(5, 1).expand(5, 9)
    tensors["wide and expanded"] = random_bits(1, torch.float64, seed + 56).expand(9)
    return tensors


def change(tensors: dict[str, Any], share: float, seed: int) -> None:
    """Flips some bits of this share of the elements, in place."""
    made = torch.Generator().manual_seed(seed)
    done = set()
    for tensor in tensors.values():
        if tensor.numel() == 0 or (tensor.data_ptr(), tensor.shape) in done:
            continue
        done.add((tensor.data_ptr(), tensor.shape))
        if 0 in tensor.stride():
            tensor = tensor[..., 0]
        if tensor.dtype == torch.bool:
            tensor ^= torch.rand(tensor.shape, generator=made) < share
            continue
        plain = torch.view_as_real(tensor) if tensor.is_complex() else tensor
        words = plain.view(INTEGERS[plain.element_size()])
        flips = torch.randint(1, 100, words.shape, generator=made).to(words.dtype)
        words ^= torch.where(torch.rand(words.shape, generator=made) < share, flips, 0)


def me() -> int:
    return dist.get_rank()


def told(value: Any, group: Any = None) -> list[Any]:
    values: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(values, value, group=group)
    return values


def same(tensors: dict[str, Any], group: Any = None, src: int = 0) -> bool:
    """As the source's tensors, which nothing but this carries."""
    mine = {name: bits(tensor).numpy().tobytes() for name, tensor in tensors.items()}
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    source = told(mine, group)[ranks.index(src)]
    return source.keys() == mine.keys() and all(source[name] == mine[name] for name in mine)
