"""Programs that move the same arrays step after step.

Each is a generator: for each step, the arrays that are moved.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

WIDTH = 1024
LAYERS = 4


def bf16_of(values: np.ndarray) -> np.ndarray:
    """As words, rounded to the nearest, ties to even."""
    words = values.astype(np.float32).view(np.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(np.uint16)


def trained(steps: int, *, rate: float = 1e-4, warm: int = 20) -> Iterator[list[np.ndarray]]:
    """The fp32 weights of a network of square layers that learns a smooth function by Adam, after
    each of `steps` steps that follow on `warm` others."""
    random = np.random.default_rng(7)
    scale = np.sqrt(2 / WIDTH)
    weights = [random.normal(0, scale, (WIDTH, WIDTH)).astype(np.float32) for _ in range(LAYERS)]
    first = [np.zeros_like(each) for each in weights]
    second = [np.zeros_like(each) for each in weights]
    target = random.normal(0, scale, (WIDTH, WIDTH)).astype(np.float32)
    for step in range(1, warm + steps + 1):
        inputs = random.normal(0, 1, (64, WIDTH)).astype(np.float32)
        layers = [inputs]
        for each in weights[:-1]:
            layers.append(np.maximum(layers[-1] @ each, 0))
        error = layers[-1] @ weights[-1] - np.tanh(inputs @ target)
        error = (2 / error.size) * error
        for at in reversed(range(LAYERS)):
            slope = layers[at].T @ error
            error = (error @ weights[at].T) * (layers[at] > 0)
            first[at] += 0.1 * (slope - first[at])
            second[at] += 0.001 * (slope * slope - second[at])
            mean = first[at] / (1 - 0.9**step)
            size = np.sqrt(second[at] / (1 - 0.999**step)) + 1e-8
            weights[at] -= (rate * mean / size).astype(np.float32)
        if step > warm:
            yield [each.copy() for each in weights]


def trained_bf16(steps: int, *, rate: float = 1e-4) -> Iterator[list[np.ndarray]]:
    """The same as they are gathered in mixed precision."""
    for weights in trained(steps, rate=rate):
        yield [bf16_of(each) for each in weights]


def field(steps: int) -> Iterator[list[np.ndarray]]:
    """A temperature in Kelvin that diffuses and is stirred slowly, fp32."""
    random = np.random.default_rng(8)
    place = np.linspace(0, 2 * np.pi, WIDTH, dtype=np.float32)
    values = 288 + 12 * np.outer(np.sin(place), np.cos(2 * place)).astype(np.float32)
    values += random.normal(0, 0.5, values.shape).astype(np.float32)
    for _ in range(steps):
        for _ in range(2):
            around = sum(np.roll(values, shift, axis) for shift in (1, -1) for axis in (0, 1))
            values = (values + np.float32(0.002) * (around - 4 * values)).astype(np.float32)
        yield [values.copy()]


def unlike(steps: int) -> Iterator[list[np.ndarray]]:
    """Other values each time, bf16: nothing that references could save."""
    random = np.random.default_rng(9)
    for _ in range(steps):
        yield [bf16_of(random.normal(0, 0.02, (WIDTH, WIDTH))) for _ in range(LAYERS)]


Program = tuple[Callable[[int], Iterator[list[np.ndarray]]], str, str]

ALL: dict[str, Program] = {
    "tuned bf16": (partial(trained_bf16, rate=1e-5), "allgather", "bf16"),
    "trained bf16": (trained_bf16, "allgather", "bf16"),
    "trained fp32": (trained, "allgather", "f32"),
    "field fp32": (field, "bcast", "f32"),
    "unlike bf16": (unlike, "allgather", "bf16"),
}
