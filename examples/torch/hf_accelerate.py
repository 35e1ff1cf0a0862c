"""Trains a Llama of Hugging Face's transformers, made from a configuration, by accelerate.

    accelerate launch --num_processes 2 hf_accelerate.py --steps 100

It knows nothing of Thinwire: `thinwire run --nccl --codec lossless --` in front is all.
"""

import argparse
import json
import sysconfig
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset
from transformers import LlamaConfig, LlamaForCausalLM


def samples(length: int) -> TensorDataset:
    """Python's own sources, as bytes."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    text = b"".join(path.read_bytes() for path in paths)[:2_000_000]
    whole = torch.frombuffer(bytearray(text[: len(text) // length * length]), dtype=torch.uint8)
    return TensorDataset(whole.long().view(-1, length))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=20)
    options.add_argument("--width", type=int, default=64)
    options.add_argument("--layers", type=int, default=2)
    options.add_argument("--batch", type=int, default=4)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    set_seed(0)
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=given.width,
        intermediate_size=4 * given.width,
        num_hidden_layers=given.layers,
        num_attention_heads=max(2, given.width // 64),
        max_position_embeddings=128,
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loader = DataLoader(samples(128), batch_size=given.batch, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    losses: list[float] = []
    while len(losses) < given.steps:
        for (batch,) in loader:
            loss = model(input_ids=batch, labels=batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(accelerator.reduce(loss.detach(), "mean").item())
            if len(losses) == given.steps:
                break
    ranks = accelerator.num_processes
    told = {"example": "transformers, accelerate", "ranks": ranks, "losses": losses}
    accelerator.print(json.dumps(told))
    if accelerator.is_main_process and given.json:
        with given.json.open("a") as file:
            file.write(json.dumps(told) + "\n")
    accelerator.end_training()


if __name__ == "__main__":
    main()
