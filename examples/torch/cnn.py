"""Trains a residual network with ReLU on pictures that it makes: DistributedDataParallel, and an
optimizer whose state ZeroRedundancyOptimizer spreads over the ranks.

    torchrun --nproc-per-node 2 cnn.py --width 64 --steps 200
"""

import torch
from common import Job, Pictures, parser
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel


class Residual(nn.Module):
    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.two = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(after) for _ in range(2))
        self.across = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.norms[0](self.one(x)))
        return functional.relu(self.norms[1](self.two(y)) + self.across(x))


def network(width: int) -> nn.Module:
    """Of width 64 it has 9 million parameters."""
    widths = [3, width, width, width, 2 * width, 2 * width, 4 * width, 4 * width, 8 * width]
    layers: list[nn.Module] = []
    for before, after in zip(widths, widths[1:], strict=False):
        layers.append(Residual(before, after, 2 if before != after and before > 3 else 1))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, 10))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--width", type=int, default=8)
    given = options.parse_args()
    job = Job(given, ("dp",))
    mesh, pictures = job.mesh(job.ranks), Pictures(job.device)

    for policy, seed in job.runs():
        net = network(given.width).to(job.device)
        model = DistributedDataParallel(net, process_group=mesh.get_group())
        optimizer = ZeroRedundancyOptimizer(
            model.parameters(),
            torch.optim.Adam,
            process_group=mesh.get_group(),
            parameters_as_bucket_view=True,
            lr=1e-3,
        )
        job.compress(model, mesh, policy)

        def backward(number: int, model=model, seed=seed) -> torch.Tensor:
            inputs, kinds = pictures.draw(given.batch, seed, number, job.rank)
            loss = functional.cross_entropy(model(inputs), kinds)
            loss.backward()
            return loss

        def step(number: int, optimizer=optimizer, backward=backward) -> torch.Tensor:
            optimizer.zero_grad()
            loss = backward(number)
            optimizer.step()
            return loss

        losses, measured = job.train(step)
        model.eval()
        with torch.no_grad():
            inputs, kinds = pictures.draw(1000, -1)
            right = (model.module(inputs).argmax(1) == kinds).float().mean().item()
        model.train()

        def alone(model=model, backward=backward) -> None:
            with model.no_sync():
                backward(0)

        measured |= job.share(measured["step_ms"], alone)
        values = sum(each.numel() for each in net.parameters())
        figures = {"parameters": values, "losses": losses, "accuracy": right, **measured}
        job.tell(example="cnn", policy=policy, seed=seed, **figures)
    job.end()


if __name__ == "__main__":
    main()
