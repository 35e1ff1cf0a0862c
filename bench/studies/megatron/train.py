"""A GPT of Megatron-Core, trained for some steps: seconds a step, and losses to the bit.

    pip install megatron-core==0.19.2
    thinwire lab run --hosts 2 --link 10gbit -- \\
      thinwire run --nccl --codec lossless:reductions=native -- \\
      torchrun --nproc-per-node 1 bench/studies/megatron/train.py --tensor 2 [--layers 8]

Ranks are those of the environment: `--tensor` of them share each layer, the others are replicas of
these whose gradients are summed. Rank 0 prints a line of JSON: the median of the steps' seconds
without the first `--skip`, the losses, and a digest of all ranks' parameters. Two runs of the same
words have the same digest if nothing that they sent was changed.
"""

import argparse
import hashlib
import json
import os
import statistics
import time
from typing import Any

import torch
import torch.distributed as dist
from megatron.core import parallel_state, tensor_parallel
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.transformer.transformer_config import TransformerConfig


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tensor", type=int, default=1)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--words", type=int, default=32000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--skip", type=int, default=20)
    return parser.parse_args()


def model_of(wanted: argparse.Namespace) -> Any:
    config = TransformerConfig(
        num_layers=wanted.layers,
        hidden_size=wanted.hidden,
        num_attention_heads=wanted.heads,
        tensor_model_parallel_size=wanted.tensor,
        use_cpu_initialization=True,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        bf16=True,
        params_dtype=torch.bfloat16,
        pipeline_dtype=torch.bfloat16,
        bias_dropout_fusion=False,
        masked_softmax_fusion=False,
        gradient_accumulation_fusion=False,
    )
    model = GPTModel(
        config=config,
        transformer_layer_spec=get_gpt_layer_local_spec(),
        vocab_size=wanted.words,
        max_sequence_length=wanted.length,
    )
    model = model.bfloat16().cuda()
    how = DistributedDataParallelConfig(grad_reduce_in_fp32=False, overlap_grad_reduce=True)
    return DistributedDataParallel(config, how, model)


class Tokens:
    """Batches that a replica's ranks have alike: a walk over the words, which can be learned."""

    def __init__(self, wanted: argparse.Namespace, device: str) -> None:
        self._wanted, self._device = wanted, device
        self._made = torch.Generator().manual_seed(17 + parallel_state.get_data_parallel_rank())

    def next(self) -> tuple[Any, Any, Any]:
        wanted = self._wanted
        starts = torch.randint(0, wanted.words, (wanted.batch, 1), generator=self._made)
        steps = torch.randint(1, 8, (wanted.batch, wanted.length + 1), generator=self._made)
        words = ((starts + steps.cumsum(1)) % wanted.words).to(self._device)
        places = torch.arange(wanted.length, device=self._device).expand(wanted.batch, -1)
        return words[:, :-1].contiguous(), places, words[:, 1:].contiguous()


def train(wanted: argparse.Namespace, device: str) -> tuple[list[float], list[float], Any]:
    """Seconds of each step, losses and the model."""
    model = model_of(wanted)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, foreach=True)
    tokens = Tokens(wanted, device)
    blocked = torch.ones(1, 1, wanted.length, wanted.length, device=device).tril() < 0.5
    seconds, losses = [], []
    for _ in range(wanted.steps):
        words, places, labels = tokens.next()
        torch.cuda.synchronize()
        began = time.perf_counter()
        model.zero_grad_buffer()
        loss = model(words, places, blocked, labels=labels).float().mean()
        loss.backward()
        model.finish_grad_sync()
        for parameter in model.parameters():
            parameter.grad = parameter.main_grad.to(parameter.dtype)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
        losses.append(loss.item())
    return seconds, losses, model


def digest(model: Any) -> str:
    found = hashlib.sha256()
    for _, parameter in sorted(model.named_parameters()):
        found.update(parameter.detach().cpu().contiguous().view(torch.int16).numpy().tobytes())
    each: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(each, found.hexdigest())
    return hashlib.sha256(" ".join(each).encode()).hexdigest()[:16]


def main() -> None:
    wanted = options()
    device = f"cuda:{int(os.environ['LOCAL_RANK']) % torch.cuda.device_count()}"
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    parallel_state.initialize_model_parallel(wanted.tensor)
    torch.manual_seed(5)
    tensor_parallel.model_parallel_cuda_manual_seed(5)
    seconds, losses, model = train(wanted, device)
    same = digest(model)
    if dist.get_rank() == 0:
        told = {"ranks": dist.get_world_size(), "tensor": wanted.tensor, "losses": losses}
        told |= {"step_ms": 1e3 * statistics.median(seconds[wanted.skip :])}
        told |= {"parameters": sum(each.numel() for each in model.parameters()), "digest": same}
        print(json.dumps(told), flush=True)
    parallel_state.destroy_model_parallel()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
