"""Arrays that one worker has and another one adds up: numpy's, cupy's or torch's.

    python exchange.py tcp://10.0.0.1:8786 --array torch --codec lossless --codec zfp:rate=8

Each worker has as many blocks as the others, and sends all of them to the next one. Every sum is
compared with that of the values that were sent. Prints a line of JSON for each run.
"""

import argparse
import sys
import time
from typing import Any

import fields
import transpose_sum as ways
from distributed import Client, wait

import thinwire.dask


def make(field: fields.Field, index: int, chunk: int, kind: str, dtype: str, way: str) -> Any:
    block = field.block(slice(0, chunk), slice(index * chunk, (index + 1) * chunk))
    if kind == "torch":
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        made = torch.from_numpy(block).to(device, getattr(torch, dtype))
    else:
        made = fields.convert(block.astype(dtype), kind)
    return thinwire.dask.lossy(made, ways.spec_of(way)) if ways.is_lossy(way) else made


def total(x: Any) -> float:
    """In double precision, so that equal values have equal sums."""
    return float(x.double().sum()) if hasattr(x, "double") else float(x.astype("f8").sum())


def run(client: Client, words: argparse.Namespace, way: str) -> dict[str, Any]:
    field = fields.Field(words.field, words.data, words.size)
    ways.set_way(client, words, way)
    places = sorted(client.scheduler_info(n_workers=-1)["workers"])
    blocks, ends = [], []
    for index in range(words.blocks):
        for here, place in enumerate(places):
            what = (field, index, words.chunk, words.array, words.dtype, way)
            blocks.append(client.submit(make, *what, workers=[place], pure=False))
            ends.append(places[(here + 1) % len(places)])
    wait(blocks, timeout=ways.TIMEOUT)
    right = client.gather(
        [client.submit(total, block, pure=False) for block in blocks], errors="raise"
    )
    client.run(thinwire.dask.stats, reset=True)
    begin = time.perf_counter()
    sums = [
        client.submit(total, block, workers=[end], pure=False)
        for block, end in zip(blocks, ends, strict=True)
    ]
    found = client.gather(sums)
    seconds = time.perf_counter() - begin
    counted = list(client.run(thinwire.dask.stats).values())
    worst = max(abs(a - b) / words.chunk**2 for a, b in zip(found, right, strict=True))
    if worst > ways.bound(way, field):
        raise SystemExit(f"{way}: a mean is off by {worst}")
    words.operation = "exchange"
    return ways.row(words, way, seconds, counted, worst, len(places)) | {"dtype": words.dtype}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ways.add_words(parser)
    parser.add_argument("--dtype", default="float32", help="as numpy or torch call it")
    parser.add_argument("--blocks", type=int, default=4, help="of each worker")
    return ways.take_turns(parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
