"""What the examples share: options, the ranks of a job, Thinwire by an option, data, and figures.

A script of your own needs three lines for Thinwire, or none (README.md); here they are in `Job`,
because a study trains under many policies.
"""

import argparse
import ctypes
import itertools
import json
import os
import random
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Sums of one order, if --deterministic asks for them; read when CUDA starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
import torch.distributed as dist
from counters import calls, counters
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

Losses = list[torch.Tensor]


def parser(words: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=words, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("--steps", type=int, default=20, help="timed steps")
    add("--warm", type=int, default=0, help="steps before the timed ones")
    add("--batch", type=int, default=8, help="samples of a rank and step")
    add("--seeds", type=int, default=1, help="train that many times, from other weights each time")
    add(
        "--policy",
        action="append",
        help="none, or what thinwire.torch.set_policy takes, mappings as JSON; may be repeated",
    )
    add("--min-bytes", default="64KiB", help="smaller operations stay torch's own")
    add("--link", help="the rate between nodes, as 10gbit: raw where compression would not pay")
    add("--deterministic", action="store_true", help="equal runs have equal bits; slower")
    add("--share", action="store_true", help="measure the share of communication, too")
    add("--json", type=Path, help="append each run's figures to this file, a line each")
    return made


class Job:
    """The process group of all ranks, on GPUs by NCCL, else by gloo."""

    def __init__(self, given: argparse.Namespace, names: tuple[str, ...]) -> None:
        """`names` are those of the mesh's dimensions."""
        self.given, self.names = given, names
        self.policies: list[str] = given.policy or ["none"]
        self.preload = hasattr(ctypes.CDLL(None), "tw_nccl_report")
        if self.preload:
            import thinwire.torch  # for its counters, too
        if self.preload and self.policies != ["none"]:
            # The library reads its policy once, so there is one a process.
            if len(self.policies) > 1:
                sys.exit("under the preload library a process has one --policy")
            thinwire.torch.preload_policy(_policy(self.policies[0]), names)
        on_gpu = torch.cuda.is_available()
        if on_gpu:
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
            self.device = torch.device("cuda", torch.cuda.current_device())
        else:
            self.device = torch.device("cpu")
        if given.deterministic:
            torch.use_deterministic_algorithms(True, warn_only=True)
            torch.backends.cudnn.allow_tf32 = False
            # The backward passes of these add in any order.
            for fused in ("flash", "mem_efficient", "cudnn"):
                getattr(torch.backends.cuda, f"enable_{fused}_sdp")(False)
        dist.init_process_group("nccl" if on_gpu else "gloo")
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()

    def mesh(self, *shape: int) -> DeviceMesh:
        options = None
        if self.preload and self.policies != ["none"]:
            import thinwire.torch

            # NCCL's communicators get the names of the mesh's dimensions.
            options = thinwire.torch.mesh_options(self.names)
        return init_device_mesh(
            self.device.type, shape, mesh_dim_names=self.names, backend_override=options
        )

    def runs(self) -> Iterator[tuple[str, int]]:
        """Policies and seeds, each pair of which is to be trained."""
        for policy in self.policies:
            for seed in range(self.given.seeds):
                torch.manual_seed(seed)
                yield policy, seed

    def compress(self, model: Any, mesh: DeviceMesh, policy: str) -> Any:
        """Has what the model's hooks carry go by the policy; under the preload library, which
        carries everything, there is nothing left to do."""
        if policy == "none" or self.preload:
            return model
        import thinwire.torch

        thinwire.torch.set_policy(
            mesh, _policy(policy), min_bytes=self.given.min_bytes, link=self.given.link
        )
        thinwire.torch.attach(model)
        thinwire.torch.stats(reset=True)
        return model

    def train(self, step: Callable[[int], torch.Tensor]) -> tuple[list[float], dict[str, Any]]:
        """Runs the steps; their losses, averaged over ranks, and what the timed ones took."""
        warm, steps = self.given.warm, self.given.steps
        losses: Losses = []
        begin = sent = 0.0
        marks: list[Any] = []
        before: list[float] = []
        for number in range(warm + steps):
            if number == warm:
                before = calls()
                begin, sent = self.now(), _sent_bytes()
                marks.append(self.mark())
            losses.append(step(number).detach())
            if number >= warm:
                marks.append(self.mark())
        seconds, bytes_sent = self.now() - begin, _sent_bytes() - sent
        timed = [n - b for n, b in zip(calls(), before, strict=True)]
        told = torch.stack(losses).float()
        dist.all_reduce(told)
        measured: dict[str, Any] = {
            "step_ms": 1e3 * seconds / steps,
            "sent_bytes": int(bytes_sent / steps),
        }
        measured["each_ms"] = [round(self.between(*two), 2) for two in itertools.pairwise(marks)]
        each = sorted(measured["each_ms"])
        measured |= {"median_ms": statistics.median(each), "p95_ms": each[-(len(each) // 20) - 1]}
        # The steps before are those in which ranks find out what pays.
        measured |= {"timed_calls": timed}
        return (told / self.ranks).tolist(), measured

    def mark(self) -> Any:
        """This moment of the device's work, which does not wait for it."""
        if self.device.type != "cuda":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, first: Any, second: Any) -> float:
        """Milliseconds."""
        if self.device.type != "cuda":
            return float(1e3 * (second - first))
        return float(first.elapsed_time(second))

    def now(self) -> float:
        """The clock, once all ranks and their GPUs have come here."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        dist.barrier()
        return time.perf_counter()

    def share(self, step_ms: float, alone: Callable[[], Any]) -> dict[str, float]:
        """What part of a step is communication that nothing hides: `alone` does a step's
        computation without any."""
        if not self.given.share:
            return {}
        alone()
        begin = self.now()
        for _ in range(5):
            alone()
        took = 1e3 * (self.now() - begin) / 5
        return {"alone_ms": took, "communication": max(0.0, 1 - took / step_ms)}

    def tell(self, **figures: Any) -> None:
        """One line of JSON, from the first rank."""
        figures["ranks"], figures["device"] = self.ranks, self.device.type
        figures |= {"preload": self.preload, "stats": counters()}
        if self.rank == 0:
            line = json.dumps(figures)
            print(line, flush=True)
            if self.given.json is not None:
                with self.given.json.open("a") as file:
                    file.write(line + "\n")

    def end(self) -> None:
        if "thinwire.torch" in sys.modules:
            sys.modules["thinwire.torch"].close()
        dist.barrier()
        dist.destroy_process_group()


def _policy(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else text


def _sent_bytes() -> int:
    """By this host over the interface that NCCL or gloo uses; 0 if none is named."""
    for variable in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"):
        counter = Path("/sys/class/net", os.environ.get(variable, "-"), "statistics/tx_bytes")
        if counter.exists():
            return int(counter.read_text())
    return 0


class Text:
    """Python's own sources, as bytes: of the last tenth what models are judged by."""

    def __init__(self, device: torch.device, context: int) -> None:
        paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
        data = bytearray(b"".join(path.read_bytes() for path in paths)[:4_000_000])
        end = len(data) * 9 // 10
        whole = torch.frombuffer(data, dtype=torch.uint8).long().to(device)
        self.known, self.unknown = whole[:end], whole[end:]
        self.context = context

    def draw(self, batch: int, *which: int, of: str = "known") -> tuple[torch.Tensor, torch.Tensor]:
        """Bytes, and the byte after each; equal `which` draw equal places."""
        data = getattr(self, of)
        places = random.Random(str(which)).choices(range(len(data) - self.context - 1), k=batch)
        at = torch.tensor(places)[:, None] + torch.arange(self.context + 1)
        drawn = data[at.to(data.device)]
        return drawn[:, :-1].contiguous(), drawn[:, 1:].contiguous()


class Pictures:
    """32 x 32 in three colours, of ten classes: each a smooth pattern, shifted and under noise."""

    def __init__(self, device: torch.device) -> None:
        made = torch.Generator().manual_seed(7)
        coarse = torch.randn(10, 3, 6, 6, generator=made)
        self.patterns = torch.nn.functional.interpolate(coarse, size=32, mode="bicubic").to(device)

    def draw(self, batch: int, *which: int) -> tuple[torch.Tensor, torch.Tensor]:
        made = torch.Generator().manual_seed(random.Random(str(which)).randrange(1 << 40))
        kinds = torch.randint(10, (batch,), generator=made)
        rows, columns = torch.randint(32, (2, batch), generator=made)
        noise = torch.randn(batch, 3, 32, 32, generator=made)
        device = self.patterns.device
        kinds, along = kinds.to(device), torch.arange(32)
        down = ((along + rows[:, None]) % 32).to(device)
        right = ((along + columns[:, None]) % 32).to(device)
        pattern = self.patterns[kinds[:, None, None], :, down[:, :, None], right[:, None, :]]
        return pattern.movedim(-1, 1) + 1.5 * noise.to(device), kinds
