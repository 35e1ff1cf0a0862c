"""One rank of a job: runs the checks of a module in order, and says of each how it went.

job.py MODULE RANK RANKS FOLDER SECONDS [CHECK...]
"""

import faulthandler
import importlib
import json
import sys
import time
import traceback
from pathlib import Path


def main() -> int:
    module, rank, ranks, folder, seconds = sys.argv[1:6]
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    store = dist.FileStore(str(Path(folder, "store")), int(ranks))
    dist.init_process_group("gloo", store=store, rank=int(rank), world_size=int(ranks))
    checks = importlib.import_module(module).CHECKS
    wanted = sys.argv[6:]
    for check in checks:
        if wanted and check.__name__ not in wanted:
            continue
        began = time.monotonic()
        torch.manual_seed(7)
        try:
            check(Path(folder))
        except Exception:  # noqa: BLE001, told to who started the job
            say(check.__name__, rank, traceback.format_exc(), began)
            return 1
        say(check.__name__, rank, "", began)
    import thinwire.torch

    thinwire.torch.close()
    dist.barrier()
    dist.destroy_process_group()
    return 0


def say(check: str, rank: str, error: str, began: float) -> None:
    seconds = round(time.monotonic() - began, 2)
    line = {"check": check, "rank": int(rank), "error": error, "seconds": seconds}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
