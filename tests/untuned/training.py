"""Small networks trained by hand-written backpropagation in fp32, for their gradients, activations
and Adam moments.

Every sum is taken in one order, by additions of whole arrays: a BLAS adds in an order of its own on
each processor, and the values would not be the same everywhere. Nothing here rounds a function that
libraries round differently, square roots aside, which are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

Arrays = dict[str, np.ndarray]


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The matrix product, summed from the first term to the last."""
    out = np.zeros((left.shape[0], right.shape[1]), np.float32)
    term = np.empty_like(out)
    columns = np.ascontiguousarray(left.T)
    for column, row in zip(columns, right, strict=True):
        np.multiply(column[:, None], row, out=term)
        out += term
    return out


def uniform(random: np.random.Generator, shape: tuple[int, ...], most: float) -> np.ndarray:
    """fp32 from bits alone."""
    bits = random.integers(-(1 << 23), 1 << 23, shape, dtype=np.int32)
    return bits.astype(np.float32) * np.float32(most / (1 << 23))


def bell(random: np.random.Generator, shape: tuple[int, ...], deviation: float) -> np.ndarray:
    """Sums of four uniform numbers: nearly normal, from bits alone."""
    total = sum(uniform(random, shape, 1.0) for _ in range(4))
    return np.asarray(total * np.float32(deviation * 0.866), np.float32)


def patches(images: np.ndarray, stride: int) -> np.ndarray:
    """The 3 x 3 neighbourhoods of images (count, height, width, channels), a row each; zeros
    round the images."""
    count, height, width, channels = images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    parts = [
        padded[:, y : y + height : stride, x : x + width : stride]
        for y in range(3)
        for x in range(3)
    ]
    return np.ascontiguousarray(np.concatenate(parts, axis=3)).reshape(-1, 9 * channels)


def unpatched(rows: np.ndarray, shape: tuple[int, ...], stride: int) -> np.ndarray:
    """The reverse for gradients: what several neighbourhoods share is added up."""
    count, height, width, channels = shape
    out = np.zeros((count, height + 2, width + 2, channels), np.float32)
    parts = rows.reshape(count, -(-height // stride), -(-width // stride), 9, channels)
    for part in range(9):
        y, x = divmod(part, 3)
        out[:, y : y + height : stride, x : x + width : stride] += parts[:, :, :, part]
    return out[:, 1:-1, 1:-1]


@dataclass
class Network:
    """Convolutions (3 x 3, the second with a stride of 2) and two full layers, ReLU between them;
    where `filters` is empty, full layers alone. The loss is the mean square of the error."""

    seed: int
    filters: tuple[int, ...]
    hidden: int
    batch: int = 32
    edge: int = 12
    classes: int = 10
    weights: Arrays = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        channels, edge = 3, self.edge
        for place, filters in enumerate(self.filters):
            self._add(f"conv{place}", 9 * channels, filters)
            channels, edge = filters, edge if place == 0 else edge // 2
        self._add("full0", edge * edge * channels, self.hidden)
        self._add("full1", self.hidden, self.classes)
        self._templates = bell(self._random, (self.classes, self.edge, self.edge, 3), 1.0)

    def _add(self, name: str, inputs: int, outputs: int) -> None:
        deviation = float(np.sqrt(2 / inputs))
        self.weights[name] = bell(self._random, (inputs, outputs), deviation)
        self.weights[f"{name}.bias"] = np.zeros(outputs, np.float32)

    def gradients(self) -> tuple[Arrays, Arrays]:
        """Of a new batch; and its activations behind each ReLU."""
        labels = self._random.integers(0, self.classes, self.batch)
        noise = bell(self._random, (self.batch, self.edge, self.edge, 3), 0.7)
        values = self._templates[labels] + noise
        names = [name for name in self.weights if not name.endswith(".bias")]
        kept: dict[str, tuple[np.ndarray, tuple[int, ...]]] = {}
        activations: Arrays = {}
        for name in names:
            shape = values.shape
            stride = 2 if name == "conv1" else 1
            rows = patches(values, stride) if "conv" in name else values.reshape(self.batch, -1)
            kept[name] = rows, shape
            out = product(rows, self.weights[name]) + self.weights[f"{name}.bias"]
            if name == names[-1]:
                values = out
                break
            activations[name] = np.maximum(out, np.float32(0))
            edge = shape[1] // stride if "conv" in name else 1
            values = activations[name].reshape(self.batch, edge, edge, -1)
        wanted = np.zeros_like(values)
        wanted[np.arange(self.batch), labels] = 1
        back = (values - wanted) * np.float32(2 / values.size)
        found: Arrays = {}
        for name in reversed(names):
            rows, shape = kept[name]
            found[f"{name}.bias"] = back.cumsum(axis=0, dtype=np.float32)[-1]
            found[name] = product(np.ascontiguousarray(rows.T), back)
            if name == names[0]:
                break
            back = product(back, np.ascontiguousarray(self.weights[name].T))
            if "conv" in name:
                back = unpatched(back, shape, 2 if name == "conv1" else 1)
            before = activations[names[names.index(name) - 1]]
            back = np.where(before > 0, back.reshape(before.shape), np.float32(0))
        return {name: found[name] for name in self.weights}, activations


@dataclass
class Step:
    """What there is after a step; flat arrays over all weights in their order."""

    gradients: np.ndarray
    activations: np.ndarray
    first_moment: np.ndarray
    second_moment: np.ndarray
    weights: np.ndarray


def flat(arrays: Arrays) -> np.ndarray:
    return np.concatenate([values.reshape(-1) for values in arrays.values()])


def train(network: Network, steps: tuple[int, ...], rate: float = 1e-3) -> Iterator[Step]:
    """Adam; yields the state after each of `steps`, which ascend from 1."""
    first = {name: np.zeros_like(values) for name, values in network.weights.items()}
    second = {name: np.zeros_like(values) for name, values in network.weights.items()}
    scale_first, scale_second = 1.0, 1.0
    for step in range(1, steps[-1] + 1):
        gradients, activations = network.gradients()
        scale_first, scale_second = scale_first * 0.9, scale_second * 0.999
        for name, gradient in gradients.items():
            first[name] = np.float32(0.9) * first[name] + np.float32(0.1) * gradient
            second[name] = np.float32(0.999) * second[name] + np.float32(0.001) * gradient**2
            mean = first[name] * np.float32(1 / (1 - scale_first))
            spread = np.sqrt(second[name] * np.float32(1 / (1 - scale_second)))
            network.weights[name] = network.weights[name] - np.float32(rate) * mean / (
                spread + np.float32(1e-8)
            )
        if step in steps:
            yield Step(
                flat(gradients),
                flat(activations),
                flat(first),
                flat(second),
                flat(network.weights),
            )
