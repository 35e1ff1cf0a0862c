"""The two halves: one to work on, the other held back, with other recipes, types and seeds.

`python tests/untuned/halves.py <folder> [worked-on|held-back]` writes files `<name>.<dtype>` into
the folder, as `thinwire bench codec --data` reads them.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import fields
import numpy as np
import tensors
from training import Network, train

WORKED_ON, HELD_BACK = "worked-on", "held-back"
HASHES = Path(__file__).with_name("hashes.txt")

Named = tuple[str, np.ndarray]


def cast(values: np.ndarray, dtype: str) -> np.ndarray:
    """Rounded to nearest, ties to even."""
    if dtype != "bf16":
        return values.astype({"f32": "<f4", "f16": "<f2", "f64": "<f8"}[dtype])
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + (0x7FFF + (bits >> 16 & 1))) >> 16).astype("<u2")


def worked_on() -> Iterator[Named]:
    early, middle, late = train(Network(1, (16, 32), 256), (3, 30, 100))
    yield "cnn-gradients-3.f32", early.gradients
    yield "cnn-gradients-30.f16", middle.gradients * np.float32(1024)
    yield "cnn-gradients-30.f32", middle.gradients
    yield "cnn-gradients-100.bf16", late.gradients
    yield "cnn-activations.bf16", late.activations
    yield "cnn-first-moment.f32", late.first_moment
    yield "cnn-second-moment.bf16", late.second_moment
    yield "embedding-gradients.f32", tensors.embedding_gradients(2, 4096, 64, 3000)
    yield "pruned-weights.f32", tensors.pruned(tensors.weights(3, 512, 512), 0.6)
    yield "pruned-weights.bf16", tensors.pruned(tensors.weights(4, 512, 1024), 0.3)
    yield "int8-weights.f16", tensors.dequantised(tensors.weights(5, 512, 1024), 127, 1024)
    yield "cache.bf16", tensors.cache(6, 8, 512, 128)
    yield "particles.f32", fields.particles(7, 24, 8)
    yield "forces.f64", fields.forces(8, 50000, 0.3)
    yield "ocean.f32", fields.masked(9, 512, 512, 1e20)
    yield "mesh.f64", fields.mesh(10, 256, 256)
    yield "counts.f64", fields.counts(11, 130000)
    yield "decimals.f64", fields.decimals(12, 130000, 2, 1000000)


def held_back() -> Iterator[Named]:
    early, late = train(Network(101, (), 384, edge=16), (2, 60))
    yield "mlp-gradients-2.bf16", early.gradients
    yield "mlp-gradients-60.f32", late.gradients
    yield "mlp-gradients-60.f16", late.gradients * np.float32(4096)
    yield "mlp-activations.f32", late.activations
    yield "mlp-first-moment.bf16", late.first_moment
    yield "mlp-second-moment.f32", late.second_moment
    (deep,) = train(Network(102, (24, 48), 160, batch=16), (20,))
    yield "cnn-gradients-20.f32", deep.gradients
    yield "cnn-gradients-20.bf16", deep.gradients
    yield "embedding-gradients.bf16", tensors.embedding_gradients(103, 8192, 64, 9000)
    yield "pruned-2-of-4.bf16", tensors.pruned_two_of_four(tensors.weights(104, 512, 1024))
    yield "pruned-weights.f16", tensors.pruned(tensors.weights(105, 512, 1024), 0.8)
    yield "int4-weights.bf16", tensors.dequantised(tensors.weights(106, 512, 1024), 7, 64)
    yield "int8-weights.f32", tensors.dequantised(tensors.weights(107, 512, 512), 127, 512)
    yield "cache.f16", tensors.cache(108, 8, 512, 128)
    yield "gated-activations.bf16", tensors.activations(109, 512, 1024)
    yield "experts.bf16", tensors.mixture(110, 1 << 19)
    yield "particles.f64", fields.particles(111, 20, 6)
    yield "forces.f32", fields.forces(112, 80000, 0.15)
    yield "ocean.f64", fields.masked(113, 384, 384, float("nan"))
    yield "on-mesh.f32", fields.on_mesh(114, 512, 512)
    yield "indices.f32", fields.indices(115, 300000)
    yield "decimals.f32", fields.decimals(116, 300000, 1, 600)


HALVES: dict[str, Callable[[], Iterator[Named]]] = {WORKED_ON: worked_on, HELD_BACK: held_back}


def write(half: str, folder: Path) -> list[Path]:
    """The half's files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, values in HALVES[half]():
        path = folder / name
        path.write_bytes(cast(values, name.rpartition(".")[2]).tobytes())
        written.append(path)
    return written


def hash_lines(half: str, paths: list[Path]) -> list[str]:
    """As HASHES has them."""
    return [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()[:32]}  {half}/{path.name}"
        for path in paths
    ]


if __name__ == "__main__":
    for half in sys.argv[2:] or HALVES:
        for line in hash_lines(half, write(half, Path(sys.argv[1]) / half)):
            print(line)
