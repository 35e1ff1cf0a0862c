"""A GPT over bytes, of 5 million to a billion parameters."""

import torch
from torch import nn
from torch.nn import functional

CONTEXT = 128
# Layers, width, heads.
SIZES = {
    "tiny": (2, 64, 2),
    "5M": (6, 256, 4),
    "20M": (6, 512, 8),
    "100M": (14, 768, 12),
    "350M": (22, 1152, 18),
    "1B": (26, 1792, 28),
}


class Block(nn.Module):
    """Heads are counted by what a rank has of them, so that they can be split over ranks."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.head = width // heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width, bias=False)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.before(x)
        heads = (part(y).unflatten(-1, (-1, self.head)) for part in (self.q, self.k, self.v))
        q, k, v = (each.transpose(1, 2) for each in heads)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(-2))
        return x + self.narrow(functional.gelu(self.wide(self.between(x))))


class Gpt(nn.Module):
    """Without `embed` it takes what the layers before gave, without `head` it gives what the next
    ones take: a stage of a pipeline."""

    def __init__(self, size: str) -> None:
        super().__init__()
        layers, width, heads = SIZES[size]
        self.embed: nn.Module | None = nn.Embedding(256, width)
        self.place = nn.Parameter(0.02 * torch.randn(CONTEXT, width))
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head: nn.Module | None = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 256, bias=False)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.embed is not None:
            x = self.embed(x) + self.place
        for layer in self.layers:
            x = layer(x)
        return x if self.head is None else self.head(x)

    def stage(self, number: int, stages: int) -> "Gpt":
        """Makes of the whole model one of its stages."""
        each = len(self.layers) // stages
        if each * stages != len(self.layers):
            raise ValueError(f"{len(self.layers)} layers are not for {stages} stages")
        self.layers = self.layers[number * each : (number + 1) * each]
        if number > 0:
            self.embed = None
            del self.place
        if number < stages - 1:
            self.head = None
        return self


def loss_of(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits.float().flatten(0, 1), wanted.flatten())


def parameters_of(model: nn.Module) -> int:
    return sum(each.numel() for each in model.parameters())
