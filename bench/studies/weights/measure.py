"""Seconds and bytes that a model's weights take from a trainer to a server, way by way in turns.

    thinwire lab run --hosts 2 --link 10gbit --every-host -- \\
      python bench/studies/weights/measure.py --millions 100 [--changed 0.01] [--turns 5]

Ranks are those of the environment, over gloo, with `--threads` threads each; with `--gpu` over
NCCL, rank 0 on the first GPU, the next on the next, round and round. In each turn rank 0 changes
the lowest bits of a share of its bf16 values, and each way brings them to the others:

- `sync`: thinwire.torch.sync_weights that sends changes, after a first, full one;
- `again`: a full one later;
- `chosen`: one that may be a broadcast, of tensors of its own, six times before the first turn;
- `broadcast`: torch's broadcast of each tensor;
- `http`: a file in the format of safetensors, from Python's http.server, copied into the tensors;
  not with `--gpu`.

A time is from a barrier to the last rank's end. Bytes are those that rank 0's interface sent (`tw0`
in the lab). After each turn the bits of all ranks are compared by SHA-256; a difference ends the
run without figures.
"""

import argparse
import hashlib
import http.server
import json
import logging
import os
import socket
import statistics
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

import thinwire.torch

PORT = 29610


def model(millions: float, device: str) -> dict[str, Any]:
    """Tensors as a transformer has them, in bf16."""
    hidden = 1024 if millions < 500 else 2048
    shapes = {"embed": (32000, hidden)}
    layer = {"q": (hidden, hidden), "k": (hidden, hidden), "v": (hidden, hidden)}
    layer |= {"o": (hidden, hidden), "up": (4 * hidden, hidden), "down": (hidden, 4 * hidden)}
    layer |= {"norm": (hidden,)}
    left = 1e6 * millions - 32000 * hidden
    for number in range(max(1, round(left / (12 * hidden * hidden)))):
        shapes |= {f"layers.{number}.{name}": shape for name, shape in layer.items()}
    made = torch.Generator(device).manual_seed(1)
    return {name: _normal(shape, made) for name, shape in shapes.items()}


def _normal(shape: tuple[int, ...], made: Any) -> Any:
    return (torch.randn(shape, generator=made, device=made.device) * 0.02).bfloat16()


def change(tensors: dict[str, Any], share: float, seed: int) -> None:
    device = next(iter(tensors.values())).device
    made = torch.Generator(device).manual_seed(seed)
    for tensor in tensors.values():
        words = tensor.view(torch.int16).view(-1)
        # A place that comes twice changes back, which one in a hundred does.
        count = round(share * words.numel())
        at = torch.randint(0, words.numel(), (count,), generator=made, device=device).unique()
        flips = torch.randint(1, 4, (at.numel(),), generator=made, device=device)
        words[at] ^= flips.to(torch.int16)


def digest(tensors: dict[str, Any]) -> bytes:
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(memoryview(tensors[name].view(torch.int16).cpu().numpy()).cast("B"))
    return found.digest()


def sent() -> int:
    """Bytes that the lab's interface of this host has sent; 0 without one."""
    path = Path("/sys/class/net/tw0/statistics/tx_bytes")
    return int(path.read_text()) if path.exists() else 0


class Http:
    """Rank 0 writes the file into memory and serves it; others read it into their tensors."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self._tensors, self._address = tensors, [""]
        self._folder = Path("/dev/shm") / f"weights-{os.getpid()}"
        if dist.get_rank() == 0:
            self._folder.mkdir()
            self._address = [os.environ["MASTER_ADDR"]]
            handler = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {})
            handler.log_message = lambda *_: None  # type: ignore[method-assign]
            folder = str(self._folder)
            self._server = http.server.ThreadingHTTPServer(
                ("", PORT), lambda *words: handler(*words, directory=folder)
            )
            threading.Thread(target=self._server.serve_forever, daemon=True).start()
        dist.broadcast_object_list(self._address)

    def run(self) -> None:
        if dist.get_rank() == 0:
            self._write()
            dist.barrier()
            return
        dist.barrier()
        with urllib.request.urlopen(f"http://{self._address[0]}:{PORT}/model") as answer:
            head = json.loads(answer.read(int.from_bytes(answer.read(8), "little")))
            order = sorted(head, key=lambda name: head[name]["data_offsets"][0])
            for name in order:
                _read(answer, memoryview(self._tensors[name].view(torch.int16).numpy()).cast("B"))

    def _write(self) -> None:
        head, end = {}, 0
        for name, tensor in self._tensors.items():
            begin, end = end, end + tensor.nbytes
            shape = list(tensor.shape)
            head[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
        text = json.dumps(head).encode()
        with (self._folder / "model").open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for tensor in self._tensors.values():
                file.write(memoryview(tensor.view(torch.int16).numpy()).cast("B"))

    def close(self) -> None:
        if dist.get_rank() == 0:
            self._server.shutdown()
            (self._folder / "model").unlink(missing_ok=True)
            self._folder.rmdir()


def _read(answer: Any, memory: memoryview) -> None:
    done = 0
    while done < len(memory):
        got = answer.readinto(memory[done:])
        if not got:
            sys.exit("the server ended early")
        done += got


def timed(run: Callable[[], Any]) -> tuple[float, int, Any]:
    """Seconds until the last rank has ended, bytes that this rank's host sent, what it returned."""
    dist.barrier()
    before, began = sent(), time.perf_counter()
    found = run()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    dist.barrier()
    return time.perf_counter() - began, sent() - before, found


def broadcast(tensors: dict[str, Any]) -> None:
    for tensor in tensors.values():
        dist.broadcast(tensor, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=float, default=100)
    parser.add_argument("--changed", type=float, default=0.01)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bucket", default="64MiB")
    parser.add_argument("--ways", default="sync,broadcast,http,again,chosen")
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    if options.gpu:
        options.ways = options.ways.replace(",http", "")
    torch.set_num_threads(options.threads)
    logging.basicConfig(level=logging.WARNING)
    device = "cpu"
    if options.gpu:
        device = f"cuda:{int(os.environ['RANK']) % torch.cuda.device_count()}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if options.gpu else "gloo")
    tensors, mine = model(options.millions, device), model(options.millions, device)
    server = Http(tensors) if "http" in options.ways else None
    changes = thinwire.torch.WeightSync(bucket=options.bucket, way="changes")
    chosen = thinwire.torch.WeightSync(bucket=options.bucket)

    def again() -> Any:
        changes.reset()
        return changes.sync(tensors)

    runs: dict[str, Callable[[], Any]] = {
        "full": lambda: changes.sync(tensors),
        "again": again,
        "sync": lambda: changes.sync(tensors),
        "chosen": lambda: chosen.sync(mine),
        "broadcast": lambda: broadcast(tensors),
        "http": lambda: server.run() if server else None,
    }
    rows: dict[str, list[tuple[float, int, Any]]] = {}
    for turn in range(options.turns + 1):
        for way in ["full"] * (turn == 0) + options.ways.split(","):
            synced = mine if way == "chosen" else tensors
            for number in range(6 if turn == 0 and way == "chosen" else 1):
                if dist.get_rank() == 0:
                    change(synced, options.changed, hash((turn, way, number)) & 0xFFFF)
                row = timed(runs[way])
            told: list[Any] = [None] * dist.get_world_size()
            dist.all_gather_object(told, digest(synced))
            if len(set(told)) != 1:
                sys.exit(f"{way}: the ranks end with other bits")
            if turn > 0 or way == "full":  # the first turn warms up
                rows.setdefault(way, []).append(row)
            if way not in ("sync", "chosen"):
                # Makes a version of what the other way brought.
                changes.sync(tensors)
    told = [None] * dist.get_world_size()
    dist.all_gather_object(
        told, [str(rows[way][-1][2]) for way in ("sync", "chosen") if way in rows]
    )
    if dist.get_rank() == 0:
        show(rows, sum(tensor.nbytes for tensor in tensors.values()), told)
    if server:
        server.close()
    thinwire.torch.close()
    dist.destroy_process_group()


def show(rows: dict[str, list[tuple[float, int, Any]]], raw: int, told: list[Any]) -> None:
    print(f"{socket.gethostname()}: {raw} bytes of weights, load {os.getloadavg()[0]:.1f}")
    print("| way | median s | least s | bytes sent |")
    print("|---|---|---|---|")
    for way, each in rows.items():
        seconds = [row[0] for row in each]
        nbytes = statistics.median(row[1] for row in each)
        print(f"| {way} | {statistics.median(seconds):.4f} | {min(seconds):.4f} | {nbytes:.0f} |")
    for rank, report in enumerate(told):
        print(f"rank {rank}: {report}")


if __name__ == "__main__":
    main()
