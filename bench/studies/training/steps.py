"""Times the steps of a training job, and counts what did not fit a compressed call's space.

    torchrun ... bench/studies/training/steps.py MODEL [--steps N] [--warm N] [--batch N] --out FILE

MODEL is `gpt`, a transformer over bytes in bf16, or `cnn`, a convolutional network with ReLU in
fp32, both under DistributedDataParallel. Each rank writes FILE.rankN, JSON: the milliseconds of
every step, the losses, and, under the preload library with THINWIRE_REPORT set, the rank's counters
after the warm steps and at the end. It runs alike with and without the library.
"""

import argparse
import ctypes
import json
import os
import pydoc_data.topics
import time
from collections import Counter
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

COUNTED = ("compressed_calls", "frames", "spilled_blocks", "bytes", "wire_bytes")
CONTEXT = 128


class Gpt(nn.Module):
    def __init__(self, width: int = 384, layers: int = 6) -> None:
        super().__init__()
        self.embed = nn.Embedding(256, width)
        self.place = nn.Parameter(torch.randn(CONTEXT, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, 6, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 256, bias=False)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(
            CONTEXT, given.device, self.place.dtype
        )
        x = self.layers(self.embed(given) + self.place, mask=mask, is_causal=True)
        return self.head(x).float()


def cnn() -> nn.Module:
    stages: list[nn.Module] = []
    for before, after in ((3, 64), (64, 128), (128, 256), (256, 512)):
        stages += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
        stages += [nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
        stages += [nn.MaxPool2d(2)]
    return nn.Sequential(*stages, nn.Flatten(), nn.Linear(512 * 4, 10))


class Text:
    """English that every Python has; every rank draws places of its own."""

    def __init__(self, batch: int, device: torch.device) -> None:
        words = "".join(pydoc_data.topics.topics.values()).encode()
        self.data, self.batch = torch.tensor(list(words), device=device), batch
        self.places = torch.Generator().manual_seed(100 + dist.get_rank())

    def draw(self) -> tuple[torch.Tensor, torch.Tensor]:
        starts = torch.randint(len(self.data) - CONTEXT - 1, (self.batch, 1), generator=self.places)
        at = (starts + torch.arange(CONTEXT + 1)).to(self.data.device)
        drawn = self.data[at]
        return drawn[:, :-1], drawn[:, 1:]


class Pictures:
    """Ten classes, each a smooth pattern of its own under noise."""

    def __init__(self, batch: int, device: torch.device) -> None:
        torch.manual_seed(7)
        coarse = torch.randn(10, 3, 8, 8, device=device)
        self.patterns = functional.interpolate(coarse, size=32, mode="bilinear")
        self.batch, self.device = batch, device
        self.noise = torch.Generator(device).manual_seed(100 + dist.get_rank())

    def draw(self) -> tuple[torch.Tensor, torch.Tensor]:
        kinds = torch.randint(10, (self.batch,), device=self.device, generator=self.noise)
        noise = torch.randn(self.batch, 3, 32, 32, device=self.device, generator=self.noise)
        return self.patterns[kinds] + 2 * noise, kinds


def counters() -> dict[str, int] | None:
    """Of all communicators of this process; None without the library or its report."""
    program = ctypes.CDLL(None)
    if not hasattr(program, "tw_nccl_report") or "THINWIRE_REPORT" not in os.environ:
        return None
    length = ctypes.c_uint64()
    program.tw_nccl_report(None, ctypes.c_uint64(0), ctypes.byref(length))
    text = ctypes.create_string_buffer(length.value + 4096)
    program.tw_nccl_report(text, ctypes.c_uint64(len(text)), ctypes.byref(length))
    found: Counter[str] = Counter()
    for each in json.loads(text.value or b'{"communicators": []}')["communicators"]:
        for figures in each["operations"].values():
            found.update({name: figures[name] for name in COUNTED})
    return dict(found)


def train(given: argparse.Namespace) -> dict[str, object]:
    device = torch.device("cuda", torch.cuda.current_device())
    torch.manual_seed(1)
    if given.model == "gpt":
        model, data = Gpt().to(device, torch.bfloat16), Text(given.batch, device)
    else:
        model, data = cnn().to(device), Pictures(given.batch, device)
    wrapped = DistributedDataParallel(model, device_ids=[device.index])
    optimizer = torch.optim.AdamW(wrapped.parameters(), lr=3e-4)
    times, losses, warm = [], [], None
    for step in range(given.steps):
        if step == given.warm:
            torch.cuda.synchronize()
            warm = counters()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        inputs, wanted = data.draw()
        optimizer.zero_grad()
        loss = functional.cross_entropy(wrapped(inputs).flatten(0, -2), wanted.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    values = sum(parameter.numel() for parameter in model.parameters())
    return {
        "model": given.model,
        "parameters": values,
        "ranks": dist.get_world_size(),
        "milliseconds": times,
        "losses": losses,
        "warm": warm,
        "end": counters(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=("gpt", "cnn"))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--warm", type=int, default=50)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    dist.init_process_group("nccl")
    result = train(given)
    Path(f"{given.out}.rank{dist.get_rank()}").write_text(json.dumps(result))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
