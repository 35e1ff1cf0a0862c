"""Runs scripts of examples/torch on ranks of one machine, over gloo, one job behind the other:

    fork_ranks.py SECONDS [JSON]...     JSON: [ranks, script, argument...]

Ranks are forked from this process, so that torch is imported once for all of them. Ends with 1
where a rank of a job does not end well, or not in time.
"""

import faulthandler
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import time

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "torch")
MODULES = (
    "torch.distributed.fsdp",
    "torch.distributed.optim",
    "torch.distributed.pipelining",
    "torch.distributed.tensor.parallel",
)


def run_rank(rank: int, ranks: int, port: int, script: str, words: list[str]) -> None:
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in place.items()})
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    path = os.path.join(EXAMPLES, script)
    sys.argv = [path, *words]
    sys.path.insert(0, EXAMPLES)
    runpy.run_path(path, run_name="__main__")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def run_job(ranks: int, script: str, words: list[str], seconds: float) -> bool:
    port, pids, begin = free_port(), [], time.monotonic()
    for rank in range(ranks):
        pid = os.fork()
        if pid == 0:
            faulthandler.dump_traceback_later(seconds, exit=True)
            code = 1
            try:
                run_rank(rank, ranks, port, script, words)
                code = 0
            finally:
                if code:
                    sys.excepthook(*sys.exc_info())
                sys.stdout.flush()
                os._exit(code)
        pids.append(pid)
    well = True
    while pids:
        pid, status = os.wait()
        pids.remove(pid)
        if status and well:
            well = False
            for other in pids:
                os.kill(other, signal.SIGTERM)
    told = {"job": script, "well": well, "seconds": round(time.monotonic() - begin, 1)}
    print(json.dumps(told), flush=True)
    return well


def main() -> int:
    import torch

    torch.set_num_threads(1)
    for module in MODULES:
        importlib.import_module(module)
    for text in sys.argv[2:]:
        ranks, script, *words = json.loads(text)
        words = [str(word) for word in words]
        if not run_job(ranks, script, words, float(sys.argv[1])):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
