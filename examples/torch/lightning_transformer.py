"""Trains the transformer of Lightning's own demonstrations by its Trainer, under DDP.

    python lightning_transformer.py --ranks 2 --steps 100

It knows nothing of Thinwire: `thinwire run --nccl --codec lossless --` in front is all.
"""

import argparse
import json
import sysconfig
from pathlib import Path
from typing import Any

import pytorch_lightning
import torch
from pytorch_lightning.demos import LightningTransformer
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 64


def samples() -> TensorDataset:
    """Python's own sources, as bytes, and the byte after each."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    text = b"".join(path.read_bytes() for path in paths)[:1_000_000]
    whole = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    count = (len(whole) - 1) // LENGTH * LENGTH
    return TensorDataset(whole[:count].view(-1, LENGTH), whole[1 : count + 1].view(-1, LENGTH))


class Transformer(LightningTransformer):
    def prepare_data(self) -> None:
        """Downloads nothing."""


class Losses(pytorch_lightning.Callback):
    """Of this rank, a step each."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, *more: Any) -> None:
        self.seen.append(outputs["loss"].item())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=20)
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    pytorch_lightning.seed_everything(0)
    losses = Losses()
    trainer = pytorch_lightning.Trainer(
        accelerator="gpu" if torch.cuda.is_available() else "cpu",
        devices=given.ranks,
        strategy="ddp",
        max_steps=given.steps,
        deterministic="warn",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[losses],
    )
    loader = DataLoader(samples(), batch_size=16, shuffle=True)
    trainer.fit(Transformer(vocab_size=256), loader)
    told = {"example": "Lightning, DDP", "ranks": trainer.world_size, "losses": losses.seen}
    if trainer.is_global_zero:
        print(json.dumps(told))
        if given.json:
            with given.json.open("a") as file:
                file.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
