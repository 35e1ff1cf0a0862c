"""`y = x + x.T; y.persist()` on a Dask cluster, plain and compressed by turns, on the same workers.

    python transpose_sum.py tcp://10.0.0.1:8786 --codec lossless --codec zfp:rate=8

Every result is verified, block by block, where it lies. Prints a line of JSON for each run:
seconds, bytes that workers sent each other, and what these became.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import fields
from distributed import Client, wait

import thinwire.dask

TIMEOUT = 200  # seconds for a step, after which something hangs
FORCED = "forced "  # before a codec


def transpose_sum(x: Any) -> Any:
    return x + x.T


def shuffle(x: Any) -> Any:
    """Rows to columns: each worker sends to every other one."""
    return x.rechunk({0: -1, 1: x.chunks[1][0] // 2 or 1}, method="tasks")


OPERATIONS: dict[str, Callable[[Any], Any]] = {"transpose": transpose_sum, "shuffle": shuffle}


def expected(operation: str, field: Any, rows: slice, columns: slice) -> Any:
    block = field.block(rows, columns)
    return block + field.block(columns, rows).T if operation == "transpose" else block


def check(block: Any, operation: str, field: Any, block_info: Any = None) -> Any:
    """The largest error of a block of the result, as an array of one value."""
    import numpy as np

    (r0, r1), (c0, c1) = block_info[0]["array-location"]
    want = expected(operation, field, slice(r0, r1), slice(c0, c1))
    found = fields.to_numpy(block)
    assert found.dtype == want.dtype and found.shape == want.shape
    return np.array([[np.abs(found.astype("f8") - want.astype("f8")).max()]])


def run(client: Client, words: argparse.Namespace, way: str) -> dict[str, Any]:
    """Once, from new chunks; seconds are from the call of persist to the last block."""
    field = fields.Field(words.field, words.data, words.size)
    set_way(client, words, way)
    x = field.dask_array(words.chunk, words.array)
    if is_lossy(way):
        x = thinwire.dask.lossy(x, spec_of(way))
    x = x.persist()
    wait(x, timeout=TIMEOUT)
    client.run(thinwire.dask.stats, reset=True)
    begin = time.perf_counter()
    y = OPERATIONS[words.operation](x).persist()
    wait(y, timeout=TIMEOUT)
    seconds = time.perf_counter() - begin
    counted = list(client.run(thinwire.dask.stats).values())
    error = y.map_blocks(
        check, words.operation, field, dtype="f8", chunks=(1, 1), meta=fields.no_array()
    ).max()
    worst = float(client.compute(error).result(timeout=TIMEOUT))
    allowed = bound(way, field) + rounding(words.array)
    if worst > allowed:
        raise SystemExit(f"{way}: the result is off by {worst}, {allowed} are allowed")
    del x, y, error
    return row(words, way, seconds, counted, worst, len(counted))


def row(
    words: argparse.Namespace, way: str, seconds: float, counted: Any, error: float, workers: int
) -> dict[str, Any]:
    sent = sum(each.bytes for each in counted)
    coded = sum(each.compressed_bytes for each in counted)
    wire = sum(each.wire_bytes for each in counted)
    reasons: dict[str, int] = {}
    for each in counted:
        for why, count in each.plain_by_reason.items():
            reasons[why] = reasons.get(why, 0) + count
    rates = [each.link_rate for each in counted if each.link_rate]
    return {
        "way": way,
        "operation": words.operation,
        "array": words.array,
        "field": words.field,
        "size": words.size,
        "chunk": words.chunk,
        "workers": workers,
        "seconds": round(seconds, 4),
        "arrays": sum(each.arrays for each in counted),
        "compressed": sum(each.compressed for each in counted),
        "mbytes": round(sent / 1e6, 2),
        "wire_mbytes": round((sent - coded + wire) / 1e6, 2),
        "ratio": round(sent / (sent - coded + wire), 3) if sent else None,
        "plain": reasons,
        "timed": timed(counted),
        "link_mbytes_per_s": round(sum(rates) / len(rates) / 1e6, 1) if rates else None,
        "error": error,
    }


def new_connections(dask_worker: Any) -> None:
    """As the plugin has them when it is registered."""
    dask_worker.rpc.collect()


def timed(counted: Any) -> dict[str, list[Any]]:
    """By class of arrays, of the first worker that has timed it: which way was faster, and MB/s
    compressed and plain, as timed and as predicted."""
    found: dict[str, list[Any]] = {}
    for each in counted:
        for name, row in each.classes.items():
            if row.faster:
                rates = (row.timed_rate, row.timed_plain_rate)
                rates += (row.predicted_rate, row.predicted_plain_rate)
                told = [rate and round(rate / 1e6, 1) for rate in rates]
                found.setdefault(name, [row.faster, *told])
    return found


def spec_of(way: str) -> str:
    return way.removeprefix(FORCED)


def is_lossy(way: str) -> bool:
    return spec_of(way).startswith(("zfp", "szp", "blockq"))


def bound(way: str, field: Any) -> float:
    """Of two values, both of which may have been sent. A fixed rate promises nothing: a
    hundredth of the range is what this program wants of it."""
    if spec_of(way).startswith("szp:abs="):
        return 2.001 * float(way.partition("=")[2])
    return 1e-2 * field.range if is_lossy(way) else 0.0


def rounding(array: str) -> float:
    """CuPy takes values below the least normal number for zero, what it adds and what comes out."""
    return 2 * 2.0**-126 if array == "cupy" else 0.0


def set_way(client: Client, words: argparse.Namespace, way: str) -> None:
    """The plugin of every worker, or none. "plain" counts, and compresses nothing."""
    spec, forced = spec_of(way), words.force or way.startswith(FORCED)
    if way == "native":
        client.unregister_worker_plugin("thinwire")
        client.run(new_connections)
        return
    codec = "off" if way == "plain" or is_lossy(spec) else spec
    plugin = thinwire.dask.ThinwirePlugin(
        codec, link=words.link, force=forced, same_host=words.same_host, min_bytes="64KiB"
    )
    client.register_plugin(plugin)


def add_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scheduler", help="its address, as in tcp://10.0.0.1:8786")
    parser.add_argument("--codec", action="append", default=[], help="a way, beside plain")
    parser.add_argument("--forced", action="append", default=[], help="a codec, whether it pays")
    parser.add_argument("--native", action="store_true", help="a way without the plugin, too")
    parser.add_argument("--array", choices=["numpy", "cupy", "torch"], default="numpy")
    parser.add_argument("--field", choices=sorted(fields.FIELDS), default="waves")
    parser.add_argument("--data", help="folder of the files of fields")
    parser.add_argument("--size", type=int, default=4000, help="rows, and columns")
    parser.add_argument("--chunk", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="to wait for")
    parser.add_argument("--link", help="the rate, as in 1gbit, in place of observing it")
    parser.add_argument("--force", action="store_true", help="compress whether it pays or not")
    parser.add_argument("--same-host", action="store_true", help="also within a host")


def take_turns(words: argparse.Namespace, run: Callable[..., dict[str, Any]]) -> int:
    """Each way once, untimed: the first runs start connections, and observe the network. Then all
    of them by turns; which goes first changes from turn to turn."""
    every = ["plain", *(words.codec or ["auto"]), *(FORCED + codec for codec in words.forced)]
    with Client(words.scheduler, timeout=60) as client:
        client.wait_for_workers(words.workers, timeout=60)
        for module in (fields.__file__, __file__):
            client.upload_file(module)
        for way in every:
            run(client, words, way)
        every = ["native"] * words.native + every
        for turn in range(words.repeats):
            first = turn % len(every)
            for way in every[first:] + every[:first]:
                print(json.dumps(run(client, words, way)), flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_words(parser)
    parser.add_argument("--operation", choices=sorted(OPERATIONS), default="transpose")
    words = parser.parse_args()
    if words.array == "torch":
        parser.error("Dask's arrays cannot be of torch's tensors: exchange.py sends those")
    if words.operation == "shuffle" and any(map(is_lossy, words.codec)):
        parser.error("a shuffle sends pieces of arrays, which the mark of a lossy codec is not on")
    return take_turns(words, run)


if __name__ == "__main__":
    sys.exit(main())
